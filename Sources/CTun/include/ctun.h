#ifndef CTUN_H
#define CTUN_H
int ctun_version(void);
#endif
