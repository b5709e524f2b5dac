import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuditEvent, GatewayError, type SignInSessions } from '@behalf/gateway';
import { systemRandom as random } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createSessionCookie } from '../../http/cookies.ts';
import { createProblemMap } from '../../http/errors.ts';
import { createOrigins } from '../../http/origins.ts';
import { createApp } from '../../http/server.ts';
import { loginRoute } from './auth.ts';

const quiet = () => undefined;
const logger = { error: quiet, warn: quiet, info: quiet, debug: quiet };

describe('a refused sign-in with a password', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('is written down; what is not even looked at is not', async () => {
    const noted: AuditEvent[] = [];
    let code: 'AUTH_FAILED' | 'RATE_LIMITED' = 'AUTH_FAILED';
    const origins = createOrigins({ PUBLIC_URL: undefined, HOST: '127.0.0.1' }, 1);
    const route = loginRoute({
      signIn: async () => Promise.reject(new GatewayError(code)),
      sessions: {} as SignInSessions,
      cookie: () => createSessionCookie(origins),
      logger,
      audit: { note: (event) => void noted.push(event), record: async () => undefined, reserve: () => true },
      offersOpenId: false,
    });
    const listener = createApp({
      routes: [route],
      admission: {
        check: quiet,
        checkOrigin: quiet,
        authenticate: () => Promise.reject(new GatewayError('AUTH_REQUIRED')),
      },
      ...{ headers: {}, problemOf: createProblemMap({ random, logger }), trustProxy: 0 },
    });
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/auth/login`;
    const attempt = async () => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ email: 'ada@example.com', password: 'planted' });
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    expect(await attempt()).toBe(401);
    code = 'RATE_LIMITED';
    for (let i = 0; i < 5; i += 1) expect(await attempt()).toBe(429);
    expect(noted).toMatchObject([{ action: 'session.start', outcome: 'refused', code: 'AUTH_FAILED' }]);
    expect(JSON.stringify(noted)).not.toContain('planted');
  });
});
