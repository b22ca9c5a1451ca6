#!lua name=pushpool
