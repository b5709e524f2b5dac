import { createFakeClock, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  closeExchangeRigs,
  createExchangeRig,
  mail,
  OBO_SECRET,
  RIG_TENANT,
  type ExchangeRig,
} from '../../test/exchangeRig.ts';
import { adaUser, bobUser } from '../../test/idpRig.ts';
import type { FaultBehavior } from './switches.ts';

let rig: ExchangeRig;
beforeAll(async () => void (rig = await createExchangeRig()));
beforeEach(() => {
  rig.idp.switches.clear();
  rig.idp.requestLog.clear();
});
afterAll(closeExchangeRigs);

const forBob = () => rig.requestObo({ assertion: rig.entra.tokens.mint({ user: bobUser.id }) });

describe('switches', () => {
  test('throttle one user, with a time and without', async () => {
    const { switches } = rig.idp;
    switches.set({ kind: 'throttle', retryAfterSeconds: 7 }, { user: adaUser.id, times: 1 });
    switches.set({ kind: 'throttle' }, { user: adaUser.id, times: 1 });
    const [first, other] = [await rig.requestObo(), await forBob()];
    expect([first.status, first.headers.get('retry-after'), other.status]).toEqual([429, '7', 200]);
    expect(first.body).toMatchObject({ error: 'temporarily_unavailable', error_codes: [90055] });
    const second = await rig.requestExchange();
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, null]);
    expect((await rig.requestObo()).status).toBe(200);
    expect(switches.active()).toEqual([]);
  });

  test('break the answer, until they are off', async () => {
    const { switches } = rig.idp;
    const answers: [FaultBehavior, number, object][] = [
      [{ kind: 'fail' }, 500, {}],
      [{ kind: 'empty' }, 200, {}],
    ];
    for (const [behavior, status, body] of answers) {
      const broken = switches.set(behavior);
      for (const ask of [rig.requestObo, rig.requestExchange])
        expect(await ask()).toMatchObject({ status, body });
      expect((await rig.requestObo()).body).toEqual({});
      broken.remove();
      expect((await rig.requestObo()).body.access_token).not.toBe('');
    }
    switches.set({ kind: 'empty-token' }, { times: 1 });
    expect(await rig.requestObo()).toMatchObject({
      status: 200,
      body: { access_token: '', token_type: 'Bearer' },
    });
    switches.set({ kind: 'not-bearer' }, { times: 1 });
    expect((await rig.requestObo()).body.token_type).toBe('N_A');
    switches.set({ kind: 'other-audience', audience: 'api://bank' }, { times: 1 });
    expect(decodeJwt((await rig.requestObo()).body.access_token).aud).toBe('api://bank');
    expect(decodeJwt((await rig.requestObo()).body.access_token).aud).toBe(mail.audience);
  });

  test('close connections and go down', async () => {
    const { switches } = rig.idp;
    switches.set({ kind: 'close' }, { times: 1 });
    await expect(rig.requestObo()).rejects.toThrow('fetch failed');
    expect((await rig.requestObo()).status).toBe(200);
    const down = switches.set({ kind: 'down' });
    await expect(rig.requestExchange()).rejects.toThrow('fetch failed');
    await expect(rig.fetch(`${rig.idp.issuer}/jwks`)).rejects.toThrow('fetch failed');
    down.remove();
    expect((await rig.fetch(`${rig.idp.issuer}/jwks`)).status).toBe(200);
    // What never reached the exchange was not one.
    expect(rig.idp.requestLog.entries.map(({ status }) => status)).toEqual([undefined, 200]);
  });

  test('make it slow or silent', async () => {
    const clock = createFakeClock();
    const slow = await createExchangeRig({ clock });
    slow.idp.switches.set({ kind: 'slow', ms: 5_000 }, { times: 1 });
    let answered = false;
    const pending = slow.requestObo().finally(() => (answered = true));
    await eventually('the request', () => slow.idp.requestLog.count() === 1);
    await clock.advance(4_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect((await pending).status).toBe(200);

    slow.idp.switches.set({ kind: 'hang' });
    const hung = slow.requestObo();
    hung.catch(() => undefined);
    await eventually('the second request', () => slow.idp.requestLog.count() === 2);
    expect(slow.idp.requestLog.count({ status: 200 })).toBe(1);
    await slow.idp.close();
    await expect(hung).rejects.toThrow('fetch failed');
  });

  test('demand a claim until it is proven or the sign-in is newer', async () => {
    const clock = createFakeClock();
    const { idp, entra, requestObo, requestExchange } = await createExchangeRig({ clock });
    const claims = JSON.stringify({ access_token: { acrs: { essential: true, value: 'c1' } } });
    idp.switches.set({ kind: 'claims', claims }, { user: adaUser.id });
    const old = entra.tokens.mint();
    expect((await requestObo({ assertion: old })).body).toMatchObject({ error_codes: [50076], claims });
    expect(await requestExchange()).toMatchObject({
      status: 400,
      body: { error: 'interaction_required', claims },
    });
    expect((await requestObo({ assertion: entra.tokens.mint({ user: bobUser.id }) })).status).toBe(200);
    const proven = entra.tokens.mint({ claims: { acrs: ['c0', 'c1'] } });
    expect((await requestObo({ assertion: proven })).status).toBe(200);
    expect((await requestObo({ assertion: entra.tokens.mint({ claims: { acrs: ['c2'] } }) })).status).toBe(
      400,
    );
    await clock.advance(1_000);
    expect((await requestObo({ assertion: entra.tokens.mint() })).status).toBe(200);
    expect((await requestObo({ assertion: old })).status).toBe(400);
  });

  test('are set from outside, by programs of this machine', async () => {
    const url = `${rig.idp.issuer}/dev/switches`;
    const send = async (method: string, body?: string, headers: Record<string, string> = {}) => {
      const type = { 'content-type': 'application/json', ...headers };
      const response = await rig.fetch(url, { method, headers: type, ...(body !== undefined && { body }) });
      return { status: response.status, body: (await response.json()) as { active?: unknown } };
    };
    const wish = { kind: 'throttle', retryAfterSeconds: 3, user: adaUser.id, times: 2 };
    expect(await send('POST', JSON.stringify(wish))).toEqual({ status: 200, body: { active: [wish] } });
    expect((await rig.requestObo()).headers.get('retry-after')).toBe('3');
    expect((await send('GET')).body).toEqual({ active: [wish] });
    expect((await send('DELETE')).body).toEqual({ active: [] });
    expect((await rig.requestObo()).status).toBe(200);

    const wrong = [
      ...['', 'x', '[]', '{"kind":"fast"}', '{"kind":"slow"}', '{"kind":"slow","ms":"1"}'],
      ...['{"kind":"fail","tmes":1}', '{"kind":"fail","times":0}', '{"kind":"fail","user":1}'],
    ];
    for (const body of wrong) expect((await send('POST', body)).status).toBe(400);
    const good = '{"kind":"fail"}';
    expect((await send('POST', good, { 'content-type': 'text/plain' })).status).toBe(400);
    expect((await send('POST', good, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send('GET')).body).toEqual({ active: [] });
  });
});

describe('the record of requests', () => {
  test('counts exchanges and keeps no secret', async () => {
    const assertion = rig.entra.tokens.mint();
    await Promise.all([
      rig.requestObo({ assertion }),
      rig.requestObo({ client_secret: 'guessed' }),
      forBob(),
      rig.requestExchange(),
    ]);
    const { requestLog: requests } = rig.idp;
    expect([requests.count(), requests.count({ user: adaUser.id }), requests.count({ status: 401 })]).toEqual(
      [4, 3, 1],
    );
    expect(requests.entries.find(({ user }) => user === bobUser.id)).toEqual({
      path: `/${RIG_TENANT}/oauth2/v2.0/token`,
      grant: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      fields: ['grant_type', 'requested_token_use', 'client_id', 'client_secret', 'assertion', 'scope'],
      ...{ client: 'obo', user: bobUser.id, scope: 'api://mail/.default', claims: undefined, status: 200 },
    });
    const all = JSON.stringify(requests.entries);
    for (const secret of [assertion, OBO_SECRET, 'guessed']) expect(all).not.toContain(secret);
  });
});
