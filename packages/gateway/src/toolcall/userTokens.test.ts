import { afterEach, describe, expect, test } from '@jest/globals';
import { defineServer, createCredential, createToolcallRig } from '../../test/toolcallRig.ts';
import { closeVaultRigs, credentialKey, createVaultRig } from '../../test/vaultRig.ts';
import { createOAuthTokens } from '../credentials/oauthTokens.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { callTool } from './callTool.ts';
import type { WireToken } from '../upstream/target.ts';
import { listServer } from './list.ts';

const textOf = (token: WireToken) => (typeof token === 'string' ? token : token.text);

afterEach(closeVaultRigs);

const call = { server: 'files', tool: 'echo', args: {} };
const refused = () => new UpstreamError('unauthorized', { status: 401 });
const tooNarrow = () =>
  new UpstreamError('insufficient_scope', {
    status: 403,
    challenge: {
      ...{ scheme: 'bearer', error: 'insufficient_scope', scope: 'admin' },
      ...{ resourceMetadata: undefined, claims: undefined },
    },
  });

type Happening = (token: string) => void | Promise<void>;

/** A user's calls with tokens of a real vault, at a server that does as it is told, one request after the other. */
async function userTokensRig(...happenings: Happening[]) {
  const vault = await createVaultRig();
  await vault.signIn();
  const rig = createToolcallRig([defineServer('files', { requiresOAuth: true })]);
  const oauth = createOAuthTokens({ vault: vault.vault, selector: { select: () => credentialKey() } });
  const credentials: Credentials = {
    async obtain(server, principal, _fields, budget = createTokenRequestBudget()) {
      const own = await oauth.obtain(server, principal, budget);
      const { target } = createCredential(server, principal);
      if (!own || target.type === 'stdio') throw new Error('No token');
      return { target: { ...target, headers: {}, bearer: own.bearer }, binding: own.grantHash };
    },
  };
  const tokens: string[] = [];
  rig.answers = async ({ options }): Promise<JsonObject> => {
    const token = textOf(await options.bearer!.token());
    tokens.push(token);
    await happenings.shift()?.(token);
    return { content: [{ type: 'text', text: tokens.join(' ') }], resources: [] };
  };
  const parts = { ...rig.parts, credentials };
  const bindings = () => rig.leases.slice(-2).map(({ holder }) => holder?.binding);
  return {
    ...{ vault, rig, tokens, bindings },
    call: () => vault.advanceUntilSettled(callTool(parts, call, rig.inbound())),
    list: () => vault.advanceUntilSettled(listServer(parts, 'files', 'resources/list', rig.inbound())),
  };
}

describe('a user who signs in anew in the middle of a call', () => {
  for (const how of ['call', 'list'] as const) {
    test(`${how}: what was refused is sent once more with the new grant, over a connection of its own`, async () => {
      const rig = await userTokensRig(async () => {
        await rig.vault.signIn();
        throw refused();
      });
      await rig[how]();
      expect(rig.tokens).toHaveLength(2);
      expect(new Set(rig.tokens).size).toBe(2);
      expect(new Set(rig.bindings()).size).toBe(2);
      expect(rig.vault.server.counters.refreshHits).toBe(0);
    });

    test(`${how}: also before anything was sent`, async () => {
      const rig = await userTokensRig();
      let isFirst = true;
      rig.rig.onLease = async () => {
        // The tools are listed first where nothing is known of them.
        if (!isFirst || (how === 'call' && rig.rig.leases.length === 1)) return;
        isFirst = false;
        await rig.vault.signIn();
      };
      await rig[how]();
      expect(rig.tokens).toHaveLength(1);
      expect(new Set(rig.bindings()).size).toBe(2);
    });
  }

  test('and whose new token is refused as well, is told so', async () => {
    const rig = await userTokensRig(
      async () => {
        await rig.vault.signIn();
        throw refused();
      },
      () => Promise.reject(refused()),
    );
    expect(await rig.call()).toMatchObject({ kind: 'auth_required' });
    expect(rig.tokens).toHaveLength(2);
  });
});

describe('a wider scope that is wanted at the second try', () => {
  const wanted = { kind: 'auth_required', signIn: { reason: 'insufficient_scope' } };

  test('is asked for as at the first one', async () => {
    for (const first of [refused(), new UpstreamError('ended')]) {
      const rig = await userTokensRig(
        () => Promise.reject(first),
        () => Promise.reject(tooNarrow()),
      );
      expect(await rig.call()).toMatchObject(wanted);
      expect(rig.tokens).toHaveLength(2);
      await expect(
        (async () => {
          const other = await userTokensRig(
            () => Promise.reject(first),
            () => Promise.reject(tooNarrow()),
          );
          return other.list();
        })(),
      ).rejects.toMatchObject({ code: 'MCP_AUTHORIZATION_REQUIRED' });
    }
  });
});

describe('a token that was renewed in the middle of a call', () => {
  test('is taken out of the answer, and so is the one before it', async () => {
    const testRig = await userTokensRig();
    const { rig, vault } = testRig;
    rig.answers = async ({ options }): Promise<JsonObject> => {
      const first = textOf(await options.bearer!.token());
      // Another call renews it.
      await vault.vault.recover(credentialKey(), first);
      const second = textOf(await options.bearer!.token());
      expect(second).not.toBe(first);
      return { content: [{ type: 'text', text: `${first} ${second}` }] };
    };
    const outcome = await testRig.call();
    expect(outcome).toMatchObject({ result: { content: [{ text: '[redacted] [redacted]' }] } });
  });
});
