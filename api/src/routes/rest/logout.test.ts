import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpStatus } from '@behalf/contracts';
import { type Audit, GatewayError, type SignInSessions } from '@behalf/gateway';
import type { SessionRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { createSessionCookie } from '../../http/cookies.ts';
import { createOrigins } from '../../http/origins.ts';
import { createApp } from '../../http/server.ts';
import { logoutRoute } from './auth.ts';

/** What a browser hears that signs out with the cookie `secret`. */
async function signOut(parts: { end: SignInSessions['end']; record: Audit['record'] }) {
  const cookie = createSessionCookie(createOrigins({ PUBLIC_URL: undefined, HOST: '127.0.0.1' }, 0));
  const route = logoutRoute({
    sessions: { end: parts.end } as SignInSessions,
    cookie: () => cookie,
    audit: { record: parts.record } as Audit,
  });
  const listener = createApp({
    routes: [route],
    admission: {
      check: () => undefined,
      checkOrigin: () => undefined,
      authenticate: () => {
        throw new GatewayError('AUTH_REQUIRED');
      },
    },
    headers: {},
    problemOf(error) {
      const code = error instanceof GatewayError ? error.code : 'INTERNAL';
      return { problem: { status: httpStatus(code), code } as never, headers: {} };
    },
    trustProxy: 0,
  });
  const server = createServer(listener).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/api/auth/logout`, {
      method: 'POST',
      headers: { cookie: 'other=1; behalf_session=secret' },
    });
    await response.arrayBuffer();
    return { status: response.status, cookies: response.headers.getSetCookie() };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('signing out', () => {
  const erased = ['behalf_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'];

  test('the cookie goes although nobody can be told', async () => {
    const ended: string[] = [];
    const answer = await signOut({
      end: async (secret) => {
        ended.push(secret);
        return { userId: 'ada', tenant: 'default' } as SessionRecord;
      },
      record: () => Promise.reject(new GatewayError('AUDIT_UNAVAILABLE')),
    });
    expect(answer).toEqual({ status: httpStatus('AUDIT_UNAVAILABLE'), cookies: erased });
    expect(ended).toEqual(['secret']);
  });

  test('it stays while the session may go on: who tries again ends it', async () => {
    const answer = await signOut({
      end: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')),
      record: async () => undefined,
    });
    expect(answer).toEqual({ status: httpStatus('STORE_UNAVAILABLE'), cookies: [] });
  });
});
