import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, systemRandom, type Clock, type Random } from '@behalf/kernel';
import type { DevClient } from './clients.ts';
import { providerConfiguration } from './configuration.ts';
import { readIssuer, refuseOutsideDevelopment } from './developmentOnly.ts';
import { createMemoryAdapter } from './memoryAdapter.ts';
import { Provider } from './oidcProvider.ts';
import { createRequestListener } from './requests.ts';
import { createKeyRing } from './signingKeys.ts';
import { createTokens, type Tokens } from './tokens.ts';
import type { DevUser } from './users.ts';

export interface DevIdpOptions {
  /** True where NODE_ENV says so: nothing starts then. */
  production: boolean;
  /** 0: any free one. */
  port: number;
  /** A loopback address. */
  host?: string;
  /** What it calls itself, an origin on loopback; the address it listens on if absent. */
  issuer?: string;
  users: readonly DevUser[];
  clients: readonly DevClient[];
  /** `aud` of every access token. */
  audience: string;
  /** Scopes of the audience's API that a client may ask for. */
  scopes?: readonly string[];
  accessTokenSeconds?: number;
  /** The time in minted tokens. What a login gives follows the system's clock, which the library reads itself. */
  clock?: Clock;
  random?: Random;
  onError?: (error: unknown) => void;
}

export interface DevIdp {
  readonly issuer: string;
  readonly tokens: Tokens;
  /** A request that is being answered may still be signed with the old key. */
  rotateKeys(options: { keepOld: boolean }): Promise<{ kid: string }>;
  close(): Promise<void>;
}

/** A development identity provider, listening. */
export async function createDevIdp(options: DevIdpOptions): Promise<DevIdp> {
  const { production, port, host = '127.0.0.1', users, clients, audience } = options;
  refuseOutsideDevelopment({ production, host });
  const named = options.issuer === undefined ? undefined : readIssuer(options.issuer);
  const { clock = systemClock, random = systemRandom, onError = () => undefined } = options;
  const scopes = options.scopes ?? ['access_as_user'];
  const lifetimeSeconds = options.accessTokenSeconds ?? 3600;

  const keys = await createKeyRing(random);
  const server = createServer();
  const listening = await listen(server, port, host);
  const issuer = named?.origin ?? listening.origin;

  const parts = { users, clients, audience, scopes, lifetimeSeconds, keys };
  const kept = { adapter: createMemoryAdapter(), cookieKey: random.id() };
  // The library takes its keys once. A rotation makes another instance of it, around the same records and cookies.
  const createProvider = () => {
    const provider = new Provider(issuer, providerConfiguration({ ...parts, ...kept }));
    provider.on('server_error', (_ctx, error) => onError(error));
    return provider;
  };
  let provider = await closingIfItFails(server, createProvider);

  const hosts = new Set([new URL(issuer).host, listening.host, `localhost:${listening.port}`]);
  const isOwnHost = (value: string | undefined) => value !== undefined && hosts.has(value);
  server.on('request', createRequestListener({ provider: () => provider, users, isOwnHost, onError }));

  return {
    issuer,
    tokens: createTokens({ ...parts, issuer, clock, random }),
    async rotateKeys(choice) {
      const { kid } = await keys.rotate(choice);
      provider = createProvider();
      return { kid };
    },
    close: () => close(server),
  };
}

async function listen(server: Server, port: number, host: string): Promise<URL> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const { address, port: actual, family } = server.address() as AddressInfo;
  return new URL(`http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`);
}

/** A client that the library does not accept must not leave a server behind. */
async function closingIfItFails<T>(server: Server, create: () => T): Promise<T> {
  try {
    return create();
  } catch (error) {
    await close(server);
    throw error;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
