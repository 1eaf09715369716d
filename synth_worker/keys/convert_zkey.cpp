#include "synth_worker/keys/convert_zkey.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/curve/curves.hpp"
#include "common/formats/zkey.hpp"
#include "common/groth16/prepared_key.hpp"
#include "common/hash.hpp"
#include "common/thread_pool.hpp"
#include "synth_worker/keys/convert_curve.hpp"
#include "synth_worker/keys/source_copy.hpp"

namespace cuzk {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

KeyInfo info_of(const PreparedKey& key, const fs::path& path, bool converted,
                Clock::time_point start) {
  const PreparedKeyHeader& header = key.header();
  KeyInfo info;
  info.digest = key.digest();
  info.curve = key.curve();
  info.n_variables = header.n_variables;
  info.n_public = header.n_public;
  info.domain_size = header.domain_size;
  info.file_bytes = header.file_bytes;
  info.test_only = header.test_only != 0;
  info.converted = converted;
  const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  info.microseconds = static_cast<std::uint64_t>(elapsed.count());
  info.path = path.string();
  return info;
}

// Opens a cached key with all its checksums; a sound key of another source is damage as well.
Result<PreparedKey> open_cached(const fs::path& path, const Digest& digest) {
  CUZK_TRY(key, PreparedKey::open(path, KeyCheck::kFull));
  if (key.digest() != digest) {
    return Error{ErrorClass::kRetryElsewhere, "the prepared key is of another source key",
                 path.string(), "submit its source key again to have it made anew"};
  }
  return key;
}

Status create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Error{ErrorClass::kRetryElsewhere, "cannot create the key cache: " + error.message(),
               folder.string(), {}};
}

ByteProgress byte_progress(const KeyProgress& progress, const char* step) {
  return [&progress, step](std::uint64_t done, std::uint64_t total) {
    return !progress || progress(step, static_cast<std::uint32_t>(done * 1000 / total));
  };
}

Result<KeyInfo> convert(std::span<const std::byte> source, const Digest& digest,
                        const std::string& name, const fs::path& folder, unsigned threads,
                        const KeyProgress& progress, Clock::time_point start) {
  CUZK_TRY(zkey, Zkey::parse(source, name));
  if (zkey.header().n_public > kMaxPublicSignals) {
    return bad_request(fmt::format("the circuit has {} public signals, more than the {} supported",
                                   zkey.header().n_public, kMaxPublicSignals),
                       name + ", section 2 (header)",
                       "make signals private and publish a hash of them");
  }
  const fs::path path = prepared_key_path(folder, digest);
  ThreadPool pool(std::max(threads, 1u));
  ConversionMeter meter(progress);
  const Conversion conversion{zkey, source, name, digest, path, pool, meter};
  CUZK_CHECK(zkey.header().curve == CurveId::kBn254 ? convert_zkey<Bn254>(conversion)
                                                    : convert_zkey<Bls12_381>(conversion));
  CUZK_TRY(key, open_cached(path, digest));
  return info_of(key, path, true, start);
}

}  // namespace

fs::path prepared_key_path(const fs::path& cache_folder, const Digest& digest) {
  return cache_folder / (to_hex(digest) + ".ckey");
}

Result<KeyInfo> prepare_key(const UniqueFd& source, std::string source_name,
                            const fs::path& cache_folder, unsigned threads,
                            const KeyProgress& progress) {
  const auto start = Clock::now();
  CUZK_CHECK(create_folder(cache_folder));
  CUZK_TRY(digest, digest_of(source, source_name, byte_progress(progress, "reading")));
  const fs::path path = prepared_key_path(cache_folder, digest);
  if (auto cached = open_cached(path, digest)) return info_of(*cached, path, false, start);
  CUZK_TRY(copy, copy_source(source, source_name, cache_folder, byte_progress(progress, "copying")));
  // From here on only the copy counts: if the source has changed since, this is another key.
  return convert(copy.file.bytes(), copy.digest, source_name, cache_folder, threads, progress,
                 start);
}

Result<KeyInfo> prepare_key(std::span<const std::byte> source, std::string source_name,
                            const fs::path& cache_folder, unsigned threads,
                            const KeyProgress& progress) {
  const auto start = Clock::now();
  CUZK_CHECK(create_folder(cache_folder));
  const Digest digest = sha256(source);
  const fs::path path = prepared_key_path(cache_folder, digest);
  if (auto cached = open_cached(path, digest)) return info_of(*cached, path, false, start);
  return convert(source, digest, source_name, cache_folder, threads, progress, start);
}

Result<KeyInfo> check_prepared_key(const fs::path& cache_folder, const Digest& digest) {
  const auto start = Clock::now();
  const fs::path path = prepared_key_path(cache_folder, digest);
  CUZK_TRY(key, open_cached(path, digest));
  return info_of(key, path, false, start);
}

}  // namespace cuzk
