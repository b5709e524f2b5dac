import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuditEvent, createAuditLog } from '@behalf/gateway';
import { systemClock as clock, createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { auditRoutes } from '../routes/admin/audit.ts';
import { reloadRoute } from '../routes/admin/configuration.ts';
import { metricsRoute } from '../routes/ops/metrics.ts';
import { createProblemMap } from './errors.ts';
import { createApp } from './server.ts';

const quiet = () => undefined;
const logger = { error: quiet, warn: quiet, info: quiet, debug: quiet };

describe('what concerns the gateway as a whole', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  async function start() {
    let tenant = 'default';
    let reloads = 0;
    const admission = {
      check: quiet,
      checkOrigin: quiet,
      authenticate: () => aPrincipal({ role: 'ADMIN', tenant }),
    };
    const { audit: store } = openMemoryStore({ clock, random });
    const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
    const auditLog = createAuditLog({ store, keyring, clock, random, log: quiet });
    const events: AuditEvent[] = [];
    const audit = { ...auditLog, record: async (event: AuditEvent) => void events.push(event) };
    const reload = () => {
      reloads += 1;
      return { ok: true } as const;
    };
    const listener = createApp({
      routes: [
        reloadRoute({ reload, announce: async () => undefined, audit }),
        ...auditRoutes({ store, keyring, auditLog }),
        metricsRoute({
          metrics: { contentType: 'text/plain', render: async () => 'everybody’s figures' } as never,
          token: 'collector',
          admission,
        }),
      ],
      ...{ admission, headers: {}, problemOf: createProblemMap({ random, logger }), trustProxy: 0 },
    });
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = async (method: string, path: string, headers = {}) => {
      const response = await fetch(url + path, { method, headers });
      const text = await response.text();
      return [response.status, response.ok ? 'ok' : (JSON.parse(text) as { code: string }).code];
    };
    return { ask, reloads: () => reloads, as: (other: string) => (tenant = other) };
  }

  test('is for administrators of the operator’s own tenant alone', async () => {
    const { ask, as, reloads } = await start();
    const doors = [
      ['POST', '/api/admin/reload'],
      ['GET', '/api/admin/audit/verify'],
      ['GET', '/metrics'],
    ] as const;
    for (const tenant of ['acme', 'Default', 'default ']) {
      as(tenant);
      for (const [method, path] of doors) {
        expect([path, await ask(method, path)]).toEqual([path, [403, 'FORBIDDEN']]);
      }
      // What is of their own tenant stays theirs, and a collector has its token.
      expect(await ask('GET', '/api/admin/audit')).toEqual([200, 'ok']);
      expect(await ask('GET', '/metrics', { authorization: 'Bearer collector' })).toEqual([200, 'ok']);
    }
    expect(reloads()).toBe(0);
    as('default');
    for (const [method, path] of doors) expect([path, await ask(method, path)]).toEqual([path, [200, 'ok']]);
    expect(reloads()).toBe(1);
  });
});
