import { createKeyring, systemRandom } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { adaPrincipal, createOboTokensRig, exchangeProvider } from '../../../test/oboRig.ts';
import { createUserSnapshot } from '../../../test/servers.ts';
import { createTokenReply } from '../../../test/tokenEndpoint.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../test/tokenEndpointRig.ts';
import { createDpop, createDpopKey } from '../oauth/dpop.ts';
import { createBoundKeys } from './key.ts';

const dpop = createDpop({ clock: createFakeClock(), random: systemRandom });
const obo = { obo: { scopes: 'a' } };
const keysOf = (byte: number) =>
  createBoundKeys({ keyring: createKeyring([Buffer.alloc(32, byte)], systemRandom), dpop });

describe('the key that a user’s exchanged tokens are bound to', () => {
  test('is each user’s own for each server and provider, on every replica', () => {
    const keys = keysOf(1);
    const [one, two] = [
      createUserSnapshot(obo),
      createUserSnapshot({ ...obo, url: 'https://other.example/mcp' }),
    ];
    const bob = { ...adaPrincipal, userId: 'bob' };
    const other = { ...two, id: 'other' };
    const thumbprints = [
      keys(one, adaPrincipal, 'p'),
      keys(one, bob, 'p'),
      keys(one, { ...adaPrincipal, tenant: 'elsewhere' }, 'p'),
      keys(other, adaPrincipal, 'p'),
      keys(one, adaPrincipal, 'q'),
      keysOf(2)(one, adaPrincipal, 'p'),
    ].map(({ thumbprint }) => thumbprint);
    expect(new Set(thumbprints).size).toBe(6);
    expect(keysOf(1)(one, adaPrincipal, 'p').thumbprint).toBe(thumbprints[0]);
  });

  test('is part of what names a token', async () => {
    const rig = createOboTokensRig();
    await rig.bearer().token();
    rig.found = { ...exchangeProvider, isKeyBound: true };
    const token = await rig.bearer().token();
    const bobs = await rig.bearer({ ...adaPrincipal, userId: 'bob' }).token();
    const keys = rig.jobs.map(({ job }) => job.key);
    expect(new Set(keys).size).toBe(3);
    // Never a text that could be sent as a bearer token.
    expect([typeof token, typeof bobs]).toEqual(['object', 'object']);
    expect(rig.jobs[0]?.job.request.prover).toBeUndefined();
    const provers = rig.jobs.slice(1).map(({ job }) => job.request.prover?.thumbprint);
    expect(new Set(provers).size).toBe(2);
    expect(typeof rig.bearer().token()).toBe('object');
  });
});

describe('an exchange for a token that is bound to a key', () => {
  let rig: TokenEndpointRig;
  beforeEach(async () => void (rig = await createTokenEndpointRig()));
  afterEach(() => rig.close());
  const at = (dpop?: 'require' | 'off') =>
    rig.provider({
      ...{
        type: 'jwt-bearer',
        tokenEndpoint: `${rig.endpoint.origin}/token`,
        clientId: 'us',
        clientSecret: 's',
      },
      ...(dpop && { dpop }),
    });
  const prover = dpop.proverFor(createDpopKey(systemRandom));

  test('shows a proof, and takes nothing that is not bound', async () => {
    rig.endpoint.reply = () => createTokenReply({ token_type: 'DPoP' });
    expect([at('require').isKeyBound, at('off').isKeyBound, at().isKeyBound]).toEqual([true, false, false]);
    expect(await runExchange(at('require'), { prover })).toMatchObject({ token: 'exchanged-token' });
    const proof = decodeJwt(String(rig.endpoint.requests[0]?.headers['dpop']));
    expect(proof).toMatchObject({ htm: 'POST', htu: `${rig.endpoint.origin}/token` });
    rig.endpoint.reply = () => createTokenReply();
    expect(await expectExchangeFault(runExchange(at('require'), { prover }))).toMatchObject({
      code: 'OBO_EMPTY_RESPONSE',
    });
    // And without a key nothing that is.
    rig.endpoint.reply = () => createTokenReply({ token_type: 'DPoP' });
    expect(await expectExchangeFault(runExchange(at()))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    expect(rig.endpoint.requests.at(-1)?.headers).not.toHaveProperty('dpop');
  });

  test('repeats a nonce once; where it is off the demand is a typed fault', async () => {
    const demand = (nonce: string) => ({
      ...{ status: 400, headers: { 'dpop-nonce': nonce }, body: { error: 'use_dpop_nonce' } },
    });
    rig.endpoint.reply = ({ headers }) =>
      decodeJwt(String(headers['dpop']))['nonce'] === 'n'
        ? createTokenReply({ token_type: 'DPoP' })
        : demand('n');
    expect(await runExchange(at('require'), { prover })).toMatchObject({ token: 'exchanged-token' });
    expect(rig.endpoint.requests).toHaveLength(2);
    rig.endpoint.reply = () => demand(`n-${rig.endpoint.requests.length}`);
    expect(await expectExchangeFault(runExchange(at('require'), { prover }))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
    });
    expect(rig.endpoint.requests).toHaveLength(4);
    const fault = await expectExchangeFault(runExchange(at('off')));
    expect(fault).toMatchObject({ code: 'OBO_MISCONFIGURED', detail: { providerCode: 'use_dpop_nonce' } });
    expect(rig.endpoint.requests).toHaveLength(5);
  });
});
