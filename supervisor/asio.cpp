// Boost.Asio's own code, compiled once.
//
// All users are built with BOOST_ASIO_SEPARATE_COMPILATION, which leaves declarations in the
// headers.
#include <boost/asio/impl/src.hpp>
