import { format, inspect } from 'node:util';
import { createRedactor } from '@behalf/kernel';
import { aUser } from '@behalf/testkit/suites';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createOpenIdRig, type OpenIdRig } from '../../../test/openidRig.ts';
import { actorOf } from '../../audit/audit.ts';
import { principalKey, type Principal, type Authentication } from '../../principal/principal.ts';
import { createCallerCache } from '../callerCache.ts';
import { createBearerCallers } from './bearer.ts';

const open: OpenIdRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

async function createRig() {
  const rig = await createOpenIdRig();
  open.push(rig);
  return rig;
}

const tokenOf = ({ authentication }: Principal) =>
  (authentication as Extract<Authentication, { via: 'bearer' }>).token;

describe('the token a caller shows', () => {
  test('goes with a user, with whom it speaks of and until when', async () => {
    const { callers, token, issuer, clock } = await createRig();
    const shown = await token();
    const { caller } = (await callers.resolve(shown))!;
    expect(tokenOf(caller)).toMatchObject({
      ...{ issuer: issuer.url, subject: 'ada', expiresAt: clock.now() + 300_000 },
    });
    expect(tokenOf(caller)?.text.reveal()).toBe(shown);
    expect(Object.isFrozen(tokenOf(caller))).toBe(true);
  });

  test('does not go with a program', async () => {
    const { callers, token } = await createRig();
    const { caller } = (await callers.resolve(await token({ sub: 'app' })))!;
    expect([caller.kind, tokenOf(caller)]).toEqual(['service', undefined]);
  });

  test('is that of the call, when one user shows several', async () => {
    const { callers, token, store, clock } = await createRig();
    const { changes } = store;
    const cache = createCallerCache({ read: (text) => callers.resolve(text), topic: null, changes, clock });
    const [one, two] = [await token({ jti: '1' }), await token({ jti: '2' })];
    const socket = {};
    // The first one makes the account, and that is news.
    await cache.resolve(one, socket);
    for (let i = 0; i < 2; i += 1) {
      const first = (await cache.resolve(one, socket))!;
      const second = (await cache.resolve(two, socket))!;
      expect(principalKey(first)).toBe(principalKey(second));
      expect([first, second].map((caller) => tokenOf(caller)?.text.reveal())).toEqual([one, two]);
      expect(await cache.resolve(one, socket)).toBe(first);
    }
  });

  test('is in nothing that is made of the caller', async () => {
    const { callers, token } = await createRig();
    const shown = await token();
    const { caller } = (await callers.resolve(shown))!;
    const copies = [caller, { ...caller }, structuredClone({ ...caller, by: null }), actorOf(caller)];
    const texts = [
      ...copies.map((copy) => JSON.stringify({ copy })),
      ...copies.map((copy) => inspect({ copy }, { depth: 20, showHidden: true, getters: true })),
      JSON.stringify(createRedactor([]).value({ caller, deep: [{ caller }] })),
      format('%s %o %O %j', caller, caller, caller, caller),
      `${String(tokenOf(caller)?.text)}${principalKey(caller)}`,
      inspect(new Error('failed', { cause: caller }), { depth: 20 }),
    ];
    expect(texts.join()).toContain(caller.userId);
    for (const part of [shown, ...shown.split('.')]) {
      expect(texts.filter((text) => text.includes(part))).toEqual([]);
    }
  });

  test('is the verified one, whoever the account is', async () => {
    const verified = { kind: 'user', issuer: 'https://idp.example', subject: 'ada', expiresAt: 1 } as never;
    const callers = createBearerCallers({
      verifier: { verify: async () => verified },
      provisioning: { userFor: async () => aUser({ issuer: 'https://idp.example', subject: 'moved' }) },
      roleExists: () => true,
    });
    const { caller } = (await callers.resolve('text'))!;
    expect(tokenOf(caller)).toMatchObject({ subject: 'ada', expiresAt: 1 });
  });
});
