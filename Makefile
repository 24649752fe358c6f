# Aliases of the two commands of the README.
.PHONY: run test
run:
	Scripts/demo.sh
test:
	Scripts/test.sh
