// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Version of the library, and the helpers of tests.h: a check that should fail
// does fail.

#include <tessella/base/compatibility.h>
#include <tessella/base/config.h>
#include <tessella/base/exceptions.h>
#include <tessella/base/information.h>
#include <tessella/base/version.h>

#include <sstream>

#include "../tests.h"

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  std::ostringstream version;
  version << TESSELLA_VERSION_MAJOR << '.' << TESSELLA_VERSION_MINOR << '.'
          << TESSELLA_VERSION_SUBMINOR;
  check("version", version.str() == TESSELLA_VERSION);
  check("comparison of versions",
        TESSELLA_VERSION_GTE(TESSELLA_VERSION_MAJOR,
                             TESSELLA_VERSION_MINOR,
                             TESSELLA_VERSION_SUBMINOR) &&
          !TESSELLA_VERSION_GTE(TESSELLA_VERSION_MAJOR,
                                TESSELLA_VERSION_MINOR,
                                TESSELLA_VERSION_SUBMINOR + 1) &&
          !TESSELLA_VERSION_GTE(TESSELLA_VERSION_MAJOR + 1, 0, 0));
  check("information",
        Tessella::library_information().find(version.str()) !=
          std::string::npos);

  check("a true condition", true);
  check("a false condition", false);
  check_close("1/3", 1. / 3., 0.3333333, 1e-6);
  check_close("nan", std::nan(""), 0., 1e300);
  check_below("1 < 2", 1., 2.);
  check_below("2 < 1", 2., 1.);

  const auto throwing = []() {
    AssertThrow(false, Tessella::ExcUserInput("A sentence."));
  };
  check_throws<Tessella::ExcUserInput>("exception", throwing, "A sentence.");
  check_throws<Tessella::ExcUserInput>("no exception", []() {});
  try
    {
      throwing();
    }
  catch (const Tessella::ExcUserInput &exception)
    {
      std::ostringstream message;
      exception.print_info(message);
      dealii::deallog << "message:" << message.str() << std::endl;
    }
  dealii::deallog << "rate: " << rate(8., 1.) << std::endl;
}
