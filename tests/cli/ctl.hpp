// cuzkctl run in the test's own process, and the daemons it talks to.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/app.hpp"
#include "cli/exit_code.hpp"
#include "tests/support/fake_server.hpp"

namespace cuzk::cli {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

// `terminal`: whether standard error is one.
inline Outcome ctl(const std::vector<std::string>& arguments,
                   const std::optional<std::string>& socket = {}, bool terminal = false) {
  std::ostringstream out;
  std::ostringstream err;
  Terminal streams{out, err, false, terminal};
  const int code = run(arguments, streams, socket);
  return {code, out.str(), err.str()};
}

// The same against a daemon that behaves as `handler` says.
inline Outcome ctl_with(const test::FakeServer::Handler& handler,
                        const std::vector<std::string>& arguments, bool terminal = false) {
  std::optional<Outcome> outcome;
  std::string trouble;
  {
    test::FakeServer server(handler);
    outcome = ctl(arguments, server.socket().string(), terminal);
    trouble = server.trouble();
  }
  if (!trouble.empty()) outcome->err += "\nfake daemon: " + trouble;
  return *outcome;
}

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cuzk-cli.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return file(name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename());
    return all;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace cuzk::cli
