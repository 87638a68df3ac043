module my-shim

go 1.21
