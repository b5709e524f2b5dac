import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createMetadataCache } from './metadata.ts';
import {
  closeSignInRigs,
  createSignInServerRig,
  type SignInServerRigOptions,
} from '../../../test/signInRig.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await closeSignInRigs();
});

/** Something of the operator's that listens beside the server, and is open to servers of the file. */
async function insider() {
  const seen: string[] = [];
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    res.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => void server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return { seen, port, url: `http://127.0.0.1:${port}` };
}

const otherOriginDefinition = (url: string) => ({
  status: 401,
  headers: { 'www-authenticate': `Bearer resource_metadata="${url}"` },
});

/** A server of the file that somebody else runs, and what the operator opened for the servers of the file. */
async function thirdParty(options: SignInServerRigOptions = {}) {
  const inside = await insider();
  const rig = await createSignInServerRig({ operatorPorts: [inside.port], ...options });
  return { ...rig, inside };
}

type Scene = Awaited<ReturnType<typeof thirdParty>>;

const ways: Readonly<Record<string, (rig: Scene) => Promise<unknown>>> = {
  async 'its metadata'({ mcp, inside, startSignIn }) {
    mcp.guard({ access: 'anonymous', documents: 'none' });
    mcp.change({ respond: () => otherOriginDefinition(`${inside.url}/any`) });
    await expect(startSignIn('files')).rejects.toThrow();
  },
  async 'its issuer'({ mcp, inside, startSignIn }) {
    mcp.guard({ metadata: { authorization_servers: [inside.url] } });
    await expect(startSignIn('files')).rejects.toThrow();
  },
  async 'a key set'({ as, mcp, inside, signIn, logged }) {
    as.change({ metadata: { jwks_uri: `${inside.url}/keys` } });
    mcp.guard({ metadata: { scopes_supported: ['openid'] } });
    expect(await signIn('files')).toMatchObject({ ok: true });
    expect(logged.map(({ event }) => event)).toContain('oauth_jwks_origin_mismatch');
  },
};

describe('what the operator opened for one server', () => {
  for (const [way, go] of Object.entries(ways)) {
    test(`is not reached by ${way}`, async () => {
      const rig = await thirdParty({ issuer: {} });
      await go(rig);
      expect(
        rig.network.dialedAddresses.filter((address) => address.endsWith(`:${rig.inside.port}`)),
      ).toEqual([]);
      expect(rig.inside.seen).toEqual([]);
    });
  }

  test('is not reached by an endpoint of an issuer that is open', async () => {
    for (const name of ['authorization', 'token', 'registration', 'revocation']) {
      const { inside, as, startSignIn } = await thirdParty({ issuer: {} });
      as.change({ metadata: { [`${name}_endpoint`]: `${inside.url}/${name}` } });
      await expect(startSignIn('files')).rejects.toThrow();
      expect(inside.seen).toEqual([]);
    }
  });

  test('opens the way to nobody whom the server names', async () => {
    const { as, network, startSignIn } = await thirdParty();
    await expect(startSignIn('files')).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
    expect(network.dialedAddresses).not.toContain(`127.0.0.1:${as.port}`);
  });

  test('one server’s authorization server is not another’s', async () => {
    const { as, startSignIn, network } = await thirdParty({
      otherServers: ({ issuer, url }) => ({
        theirs: { type: 'streamable-http', url, requiresOAuth: true, oauth: { issuer } },
      }),
    });
    await startSignIn('theirs');
    const before = network.dialedAddresses.length;
    await expect(startSignIn('files')).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
    expect(network.dialedAddresses.slice(before)).not.toContain(`127.0.0.1:${as.port}`);
  });

  test('what was read on the operator’s word is not shown to the others', async () => {
    const issuer = 'http://127.0.0.1:9';
    let reads = 0;
    const parts = {
      fetch: () => {
        reads += 1;
        return Promise.resolve(Response.json({ issuer, token_endpoint: `${issuer}/token` }));
      },
      clock: systemClock,
      timeoutMs: 5_000,
      readError: () => undefined,
    };
    const cache = createMetadataCache();
    for (const isConfigured of [true, true, false, false]) {
      await cache.read(parts, { audience: 'yaml-server', isConfigured }, issuer);
    }
    expect(reads).toBe(2);
    cache.forget(issuer);
    for (const isConfigured of [true, false]) {
      await cache.read(parts, { audience: 'yaml-server', isConfigured }, issuer);
    }
    expect(reads).toBe(4);
  });

  test('opens it to whom the definition or the list of issuers names', async () => {
    const clients = [{ clientId: 'c1', authMethod: 'none' as const }];
    const written: SignInServerRigOptions[] = [
      { issuer: {} },
      { definition: ({ issuer }) => ({ oauth: { issuer } }) },
      {
        authorization: { clients },
        definition: ({ endpoints: { authorization, token } }) => ({
          oauth: { client_id: 'c1', authorization_url: authorization, token_url: token },
        }),
      },
    ];
    for (const options of written) {
      expect(await (await thirdParty(options)).signIn('files')).toMatchObject({ ok: true });
    }
  });

  test('and to the further origins of a listed issuer', async () => {
    const endpointOrigins: string[] = [];
    const { inside, as, startSignIn } = await thirdParty({ issuer: { endpointOrigins } });
    as.change({ metadata: { registration_endpoint: `${inside.url}/register` } });
    endpointOrigins.push(inside.url);
    await expect(startSignIn('files')).rejects.toThrow();
    expect(inside.seen).toEqual(['POST /register']);
  });
});
