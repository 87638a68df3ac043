module example.org/yourparser

go 1.21
