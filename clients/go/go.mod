module optldp.example/optldp

go 1.19
