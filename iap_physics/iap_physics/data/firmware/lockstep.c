/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps Betaflight SITL in lockstep without changing it: LD_PRELOAD=lockstep.so IAP_PORT_OFFSET=0 PROGRAM
 *
 * The stamps of state packets are its only clock. Each packet lets its main loop run until that stamp, and is answered by
 * one motor packet. Three of its threads take turns: the main loop, the thread that reads states, the thread that reads
 * sticks. IAP_PORT_OFFSET is added to every port, and sockets are bound to this machine's own address alone. With
 * IAP_PACED set, its clock is left alone. It dies with the process that has started it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

enum { MOTORS = 9002, STATE = 9003, STICKS = 9004 }; /* ports, before the offset */
enum { ROUND_NS = 50000, READING_NS = 250, FIRST_NS = 1000000 };
enum turn { MAIN_LOOP, STATE_THREAD, STICK_THREAD };

static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_sleep)(const struct timespec *, struct timespec *);
static int (*real_select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
static int (*real_bind)(int, const struct sockaddr *, socklen_t);
static ssize_t (*real_receive)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
static ssize_t (*real_send)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum turn turn;
static int offset, is_paced, state_socket = -1, stick_socket = -1;
static int motor_socket, is_answered = 1;
static struct sockaddr_in simulator;
static char motors[16]; /* the last motor packet */

/* The main loop's clock, how far it may run, and the stamp of the last packet. */
static volatile uint64_t now_ns = 1000000000, granted_ns, packet_ns;
static double last_stamp = -1;
static __thread int is_main, is_reading, is_fresh;

__attribute__((constructor)) static void begin(void)
{
    real_clock = dlsym(RTLD_NEXT, "clock_gettime");
    real_sleep = dlsym(RTLD_NEXT, "nanosleep");
    real_select = dlsym(RTLD_NEXT, "select");
    real_bind = dlsym(RTLD_NEXT, "bind");
    real_receive = dlsym(RTLD_NEXT, "recvfrom");
    real_send = dlsym(RTLD_NEXT, "sendto");
    offset = getenv("IAP_PORT_OFFSET") ? atoi(getenv("IAP_PORT_OFFSET")) : 0;
    is_paced = getenv("IAP_PACED") != NULL;
    is_main = 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* its lines are read while it runs */
    motor_socket = socket(AF_INET, SOCK_DGRAM, 0);
    simulator.sin_family = AF_INET;
    simulator.sin_port = htons(MOTORS + offset);
    simulator.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void pass_to(enum turn next)
{
    pthread_mutex_lock(&lock);
    turn = next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await(enum turn own)
{
    pthread_mutex_lock(&lock);
    while (turn != own) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static ssize_t answer(void)
{
    return real_send(motor_socket, motors, sizeof motors, 0, (struct sockaddr *)&simulator, sizeof simulator);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (is_paced || id != CLOCK_MONOTONIC) return real_clock(id, t);
    if (is_main) now_ns += READING_NS; /* or loops that wait for the clock would never end */
    /* From its first reading after a packet it guesses the rate of its clock: with the stamp that is 1. */
    uint64_t now = is_fresh ? packet_ns : now_ns;
    is_fresh = 0;
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    return 0;
}

int nanosleep(const struct timespec *want, struct timespec *rest)
{
    if (is_paced || !is_main) return real_sleep(want, rest);
    now_ns += want->tv_sec * 1000000000ull + want->tv_nsec;
    if (want->tv_sec || want->tv_nsec != ROUND_NS) return 0; /* it still starts: waiting costs nothing */
    if (!granted_ns) granted_ns = packet_ns = now_ns;
    while (now_ns >= granted_ns) {
        if (!is_answered) answer();
        is_answered = 0;
        pass_to(STATE_THREAD);
        await(MAIN_LOOP);
    }
    return 0;
}

int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *limit)
{
    if (!is_paced && n - 1 == state_socket && r && FD_ISSET(state_socket, r)) {
        if (is_reading && turn == STATE_THREAD && last_stamp >= 0) pass_to(STICK_THREAD); /* the packet before is done */
        is_reading = 1;
        await(STATE_THREAD);
        return real_select(n, r, w, e, NULL);
    }
    if (!is_paced && n - 1 == stick_socket && r && FD_ISSET(stick_socket, r)) {
        struct timeval none = {0, 0};
        for (;;) {
            await(STICK_THREAD);
            fd_set ready = *r;
            if (real_select(n, &ready, NULL, NULL, &none) == 1) {
                *r = ready;
                return 1;
            }
            pass_to(MAIN_LOOP); /* no more sticks */
        }
    }
    return real_select(n, r, w, e, limit);
}

ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    ssize_t n = real_receive(fd, data, size, flags, from, length);
    if (is_paced || fd != state_socket || n < (ssize_t)sizeof(double)) return n;
    double stamp;
    memcpy(&stamp, data, sizeof stamp);
    if (last_stamp < 0) packet_ns += FIRST_NS;
    else if (stamp > last_stamp) packet_ns += (uint64_t)((stamp - last_stamp) * 1e9 + 0.5);
    last_stamp = stamp;
    granted_ns = packet_ns;
    is_fresh = 1;
    return n;
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
    if (!to || to->sa_family != AF_INET) return real_send(fd, data, size, flags, to, length);
    struct sockaddr_in moved = *(const struct sockaddr_in *)to;
    int port = ntohs(moved.sin_port);
    moved.sin_port = htons(port + offset);
    if (is_paced || port != MOTORS) return real_send(fd, data, size, flags, (struct sockaddr *)&moved, sizeof moved);
    if (size == sizeof motors) memcpy(motors, data, size);
    if (!is_main || is_answered) return size; /* one answer for each state */
    is_answered = 1;
    answer();
    return size;
}

int bind(int fd, const struct sockaddr *to, socklen_t length)
{
    if (to->sa_family != AF_INET) return real_bind(fd, to, length);
    struct sockaddr_in moved = *(const struct sockaddr_in *)to;
    int port = ntohs(moved.sin_port);
    if (port == STATE) state_socket = fd;
    if (port == STICKS) stick_socket = fd;
    moved.sin_port = htons(port + offset);
    moved.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return real_bind(fd, (struct sockaddr *)&moved, sizeof moved);
}
