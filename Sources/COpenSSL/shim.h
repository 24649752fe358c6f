#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
