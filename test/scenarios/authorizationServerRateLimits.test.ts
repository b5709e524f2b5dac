import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAdministrator } from './browser.ts';
import {
  connectClient,
  createAuthorizationClient,
  openAuthorization,
  type AuthorizationClientRig,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { readRecords } from './storeDump.ts';

describe('questions of clients, which anybody can send', () => {
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;

  beforeAll(async () => {
    gateway = await startInProcess(
      { TRUST_PROXY: '1' },
      JSON.stringify({ authorizationServer: { enabled: true, registration: { perMinute: 1_000 } } }),
    );
    authorizationClient = await createAuthorizationClient(gateway.url);
  });
  afterAll(() => gateway.close());

  const askFrom = (address: string, path: string, cookie = '') =>
    fetch(gateway.url + path, {
      headers: { 'x-forwarded-for': address, cookie },
      redirect: 'manual',
    });
  const held = async () =>
    (await readRecords(gateway, 'authorizationServer')).filter(({ kind }) => kind === 'Interaction').length;

  /** So many at once; what was left in the store by it, and how the answers were. */
  async function flood(count: number, send: (i: number) => Promise<Response>) {
    const before = await held();
    const since = Date.now();
    const answers = await Promise.all(Array.from({ length: count }, (_, i) => send(i)));
    // A minute's worth is there at once, and one more comes with each second.
    const allowed = 61 + Math.ceil((Date.now() - since) / 1_000);
    const left = (await held()) - before;
    return { left, allowed, answers, statuses: new Set(answers.map(({ status }) => status)) };
  }

  test('one network leaves sixty in a minute, and no other waits for it', async () => {
    const clientId = await authorizationClient.register();
    const ask = (address: string) =>
      askFrom(address, authorizationClient.createAuthorizationRequest(clientId).path);
    const one = await flood(150, () => ask('203.0.113.1'));
    expect(one.statuses).toEqual(new Set([303, 429]));
    expect(one.left).toBeLessThanOrEqual(one.allowed);
    const refused = one.answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask('203.0.113.2')).status).toBe(303);
    // Those of one site in the other family are one: whoever has one has the 65,536 networks of it.
    const site = await flood(150, (i) => ask(`2001:db8:7:${i.toString(16)}::1`));
    expect(site.left).toBeLessThanOrEqual(site.allowed);
    expect((await ask('2001:db8:8::1')).status).toBe(303);
  });

  test('nor does going on with one make many of it', async () => {
    const response = await askFrom(
      '203.0.113.3',
      authorizationClient.createAuthorizationRequest(await authorizationClient.register()).path,
    );
    const uid = (response.headers.get('location') ?? '').split('/').at(-1) ?? '';
    const pairs = response.headers.getSetCookie().map((line) => line.split(';')[0]);
    const again = await flood(200, () => askFrom('203.0.113.3', `/as/auth/${uid}`, pairs.join('; ')));
    expect(again.statuses).toContain(429);
    expect(again.left).toBeLessThanOrEqual(again.allowed);
  });

  test('none is longer than it needs to be', async () => {
    const clientId = await authorizationClient.register();
    const before = await held();
    const long = await askFrom(
      '203.0.113.4',
      authorizationClient.createAuthorizationRequest(clientId, { state: 'x'.repeat(4_096) }).path,
    );
    expect([long.status, long.headers.get('location')]).toEqual([414, null]);
    expect(await long.text()).toContain('invalid_request');
    expect(await held()).toBe(before);
    const ada = await createAdministrator(gateway);
    const page = await openAuthorization(
      ada,
      authorizationClient.createAuthorizationRequest(clientId, { state: 'x'.repeat(3_000) }).path,
      gateway.url,
    );
    expect(page.status).toBe(200);
    await connectClient(authorizationClient, ada, gateway.url, clientId);
  });
});
