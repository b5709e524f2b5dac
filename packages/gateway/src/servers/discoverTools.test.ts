import { type Audience, EgressError, createEgress, getEgressErrorCode, systemDial } from '@behalf/egress';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { type ScriptedOptions, scriptedHttpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createConfigureRig } from '../../test/configureRig.ts';
import { createHttpWiring } from '../../test/httpRig.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { createStdioLimits } from '../upstream/channel/stdioTransport.ts';
import { createListAll } from '../upstream/listAll.ts';
import { createOpenUpstream } from '../upstream/openUpstream.ts';
import { type DiscoverParts, discoverTools } from './discoverTools.ts';

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).reverse()) await each.close();
});

/** Names lead here. */
const names: Readonly<Record<string, readonly string[]>> = {
  'inside.example': ['10.0.0.1'],
  'mixed.example': ['93.184.216.34', '10.0.0.1'],
};

const never = () => {
  throw new Error('not asked');
};

/** Everything but sign-ins, over the real door out. What it dials is written down, and only loopback really is. */
async function rig(script: ScriptedOptions) {
  const server = await scriptedHttpServer(script);
  closing.push(server);
  // Open to the servers of the file, and to nobody else's.
  const operators = await scriptedHttpServer({ era: 'legacy', tools: [] });
  closing.push(operators);
  const dialed: string[] = [];
  const egress = createEgress({
    clock: systemClock,
    keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
    settings: {
      allowedAddresses: [`127.0.0.1:${server.port}`],
      operatorAddresses: [`127.0.0.1:${operators.port}`],
    },
    ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: () => [] }),
    env: {},
    resolve: async (name) => names[name] ?? [],
    dial(target, signal) {
      dialed.push(`${target.address}:${target.port}`);
      return target.address === '127.0.0.1'
        ? systemDial(target, signal)
        : Promise.reject(new Error('ECONNREFUSED'));
    },
  });
  closing.push({ close: () => egress.close(0) });
  const readError = (error: unknown) =>
    error instanceof EgressError
      ? { code: getEgressErrorCode(error), requestSent: error.requestSent }
      : undefined;
  const audience: Audience = 'user-server';
  const network = {
    sendTo: (to: { readonly audience: Audience }) => egress.sendFor({ audience: to.audience }),
    fetchTo: (to: { readonly audience: Audience }) => egress.fetchFor({ audience: to.audience }),
    connectTo: ({ url }: { readonly url: string }, signal: AbortSignal) =>
      egress.connect(url, { audience }, signal),
    readError,
    close: () => egress.close(0),
  };
  const { parts, store, createPrincipal, events } = await createConfigureRig(
    {},
    {
      async checkAddress(url) {
        try {
          await egress.checkTarget(url, audience);
        } catch (error) {
          throw new GatewayError(readError(error)?.code ?? 'INTERNAL');
        }
      },
    },
  );
  const discovering: DiscoverParts = {
    ...parts,
    open: createOpenUpstream({ ...createHttpWiring(server.url, network).parts, limits: createStdioLimits() }),
    listAll: createListAll({ clock: systemClock }),
    drafts: {
      open: never,
      findOwn: never,
      authorize: never,
      get: never,
      consume: never,
      end: never,
      discard: never,
      sweep: never,
      exists: never,
    },
    flows: { start: never },
    credentials: { obtain: never },
    records: store.credentials,
    attempts: store.attempts,
  };
  const discover = (url: string, key?: string) =>
    discoverTools(discovering, createPrincipal('mia', 'MAKER'), {
      ...{ url, type: 'streamable-http', returnTo: undefined },
      auth: key === undefined ? { type: 'none' } : { type: 'key', authorization_type: 'bearer', key },
    });
  return { server, operators, dialed, discover, events, user: createPrincipal, discovering };
}

describe('a look at a server that nobody saved', () => {
  const inside = [
    'https://10.0.0.1',
    'https://169.254.169.254',
    'http://127.0.0.1:1',
    'https://[fd00::1]',
    'https://[::ffff:10.0.0.1]',
    'https://[64:ff9b::a00:1]',
    'https://inside.example',
    'https://mixed.example',
    'https://0x0a000001',
  ];

  test('dials no address that its user may not choose', async () => {
    const { operators, discover, dialed, events } = await rig({ era: 'legacy', tools: [] });
    for (const place of [new URL(operators.url).origin, ...inside]) {
      for (const key of [undefined, 'k3y-of-somebody']) {
        await expect(discover(`${place}/mcp`, key)).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
      }
    }
    expect(dialed).toEqual([]);
    expect(events).toHaveLength(2 * (1 + inside.length));
    expect(events.at(-1)).toMatchObject({
      ...{ kind: 'config', action: 'server.discover', outcome: 'refused', code: 'MCP_DOMAIN_NOT_ALLOWED' },
      subject: '10.0.0.1',
    });
  });

  test('follows a server nowhere, neither with a key nor without', async () => {
    const { server, operators, discover, dialed } = await rig({ era: 'legacy' });
    for (const place of [new URL(operators.url).origin, ...inside]) {
      server.change({ respond: () => ({ status: 307, headers: { location: `${place}/mcp` } }) });
      for (const key of [undefined, 'k3y-of-somebody']) {
        await expect(discover(server.url, key)).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
      }
    }
    expect(new Set(dialed)).toEqual(new Set([`127.0.0.1:${server.port}`]));
  });

  test('is for who may create servers', async () => {
    const { server, discovering, user } = await rig({ era: 'legacy', tools: [] });
    const request = { url: server.url, type: 'streamable-http', auth: { type: 'none' } } as const;
    for (const role of ['USER', 'NO_USE']) {
      await expect(discoverTools(discovering, user('uma', role), request)).rejects.toMatchObject({
        code: 'MCP_FORBIDDEN',
      });
    }
    expect(server.requests).toEqual([]);
  });
});
