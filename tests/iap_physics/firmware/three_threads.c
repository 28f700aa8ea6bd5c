/* SPDX-License-Identifier: BSD-3-Clause
 * A program with the three threads of Betaflight SITL, for the test of the library that steps it. Its motor packets say
 * how long its clock has run, which stick came last, how many states came, and the stamp of the last one. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

static volatile int states, is_new;
static volatile double stamp;
static volatile uint16_t stick;

static int bound(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_ANY)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (struct sockaddr *)&a, sizeof a)) perror("bind");
    return fd;
}

static ssize_t received(int fd, void *data, size_t size)
{
    struct timeval limit = {0, 100000};
    fd_set ready;
    FD_ZERO(&ready);
    FD_SET(fd, &ready);
    if (select(fd + 1, &ready, NULL, NULL, &limit) != 1) return 0;
    return recvfrom(fd, data, size, 0, NULL, NULL);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *read_states(void *socket)
{
    double packet[18];
    for (;;) {
        if (received(*(int *)socket, packet, sizeof packet) != sizeof packet) continue;
        now(); /* its guess of its clock's rate */
        stamp = packet[0], states++, is_new = 1;
    }
}

static void *read_sticks(void *socket)
{
    struct { double t; uint16_t channels[16]; } packet;
    for (;;) if (received(*(int *)socket, &packet, sizeof packet) >= 10) stick = packet.channels[0];
}

int main(void)
{
    int state_socket = bound(9003), stick_socket = bound(9004), out = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9002), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, read_states, &state_socket);
    pthread_create(&threads[1], NULL, read_sticks, &stick_socket);
    printf("bind port 9004\n");
    uint64_t begin = now();
    for (;;) {
        struct timespec round = {0, 50000};
        nanosleep(&round, NULL);
        if (!is_new) continue;
        is_new = 0;
        float motors[4] = {(now() - begin) * 1e-9, stick, states, stamp};
        sendto(out, motors, sizeof motors, 0, (struct sockaddr *)&to, sizeof to);
    }
}
