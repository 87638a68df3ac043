"""What the tests of compiled profiles need: questions, meanings, generators, goldens."""
