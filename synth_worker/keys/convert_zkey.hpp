// Turns a snarkjs key into a prepared key in the key cache, once.
//
// A prepared key is trusted by everything that comes after, so everything is checked here: the file's
// structure (common/formats), and for every point that its coordinates are canonical, that it lies on its
// curve and in the right subgroup. The source is copied before it is read, so a client that changes or
// truncates its file meanwhile can neither stop this process nor have a foreign key filed under the
// digest of another. A failure, or the death of the process, leaves nothing in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/result.hpp"
#include "common/types.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"

namespace cuzk {

// Told now and then what the conversion does and how far it is (0 to 1000); returns false to stop it,
// which makes it fail with ErrorClass::kOperator. Called from one thread only.
using KeyProgress = std::function<bool(std::string_view step, std::uint32_t permille)>;

// Circuits with more public signals are refused: an answer has to fit into one message.
inline constexpr std::uint32_t kMaxPublicSignals = 30'000;

// <folder>/<hex digest>.ckey
std::filesystem::path prepared_key_path(const std::filesystem::path& cache_folder,
                                        const Digest& digest);

// Finds the prepared key of `source` (a regular file or a memfd, read from offset 0) in `cache_folder`
// by its SHA-256, or makes it. A key in the cache is re-used only after all its checksums were verified;
// a damaged one, or one of another format version, is replaced. `source_name` stands in errors and in the
// key's provenance. Two processes may prepare the same key at the same time; both succeed.
Result<KeyInfo> prepare_key(const UniqueFd& source, std::string source_name,
                            const std::filesystem::path& cache_folder, unsigned threads,
                            const KeyProgress& progress = {});

// The same for bytes that nobody else can change.
Result<KeyInfo> prepare_key(std::span<const std::byte> source, std::string source_name,
                            const std::filesystem::path& cache_folder, unsigned threads,
                            const KeyProgress& progress = {});

// Verifies a prepared key that is in the cache already, with all its checksums. Fails with
// kBadRequest when there is none, and with kRetryElsewhere when it is damaged: it takes its source to
// make it again.
Result<KeyInfo> check_prepared_key(const std::filesystem::path& cache_folder, const Digest& digest);

}  // namespace cuzk
