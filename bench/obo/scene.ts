import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Processes, Service } from '../processes.ts';
import type { IdpJob, IdpPlaces } from './idp.ts';

export const TENANT = 'contoso';
export const AUDIENCE = 'api://behalf';
export const CLIENT = { id: 'behalf', secret: 'secret-of-the-benchmark' };
export const RESOURCE = { id: 'api://mail', audience: 'mail-api', scopes: ['Mail.Read'] };
export const SCOPE = `${RESOURCE.id}/.default`;
const STATIC_KEY = 'bench-key-0123456789-0123456789-0123456789';

/** Both ways to exchange, by the names of their servers. */
export const ways = ['entra', 'jwt-bearer'] as const;

/** An identity provider of its own process, and what a gateway must be told of it. */
export interface OboScene extends IdpPlaces {
  /** Made for the run and removed after it. */
  readonly directory: string;
  readonly settings: object;
  readonly variables: Readonly<Record<string, string>>;
  /** What each of the next users' programs sends: nobody gets a user that another got. */
  newcomers(count: number): Promise<readonly Readonly<Record<'authorization', string>>[]>;
  tokens(count: number): Promise<readonly string[]>;
  slow(ms: number): Promise<void>;
  /** Token requests during `work`. */
  counted(work: () => Promise<unknown>): Promise<number>;
}

export async function onOboScene<T>(
  { processes, upstream, users }: { processes: Processes; upstream: Service; users: number },
  work: (scene: OboScene) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'behalf-bench-obo-'));
  try {
    const idp = processes.worker('obo/idp.ts');
    const ask = <Result>(job: IdpJob) => idp.ask<Result>(job);
    const places = await ask<IdpPlaces>({ do: 'start', directory, users });
    let next = 0;
    const tokens: OboScene['tokens'] = async (count) => {
      if (next + count > users) throw new Error(`There are ${users} users and no more`);
      const ids = Array.from({ length: count }, (_, i) => `u${next + i}`);
      next += count;
      return (await ask<{ tokens: string[] }>({ do: 'mint', users: ids })).tokens;
    };
    const count = async () => (await ask<{ count: number }>({ do: 'count' })).count;
    return await work({
      ...places,
      directory,
      settings: settingsOf(places, upstream.port),
      variables: {
        OPENID_ISSUER: places.entra.issuer,
        OPENID_CLIENT_ID: CLIENT.id,
        OPENID_CLIENT_SECRET: CLIENT.secret,
        OPENID_AUDIENCE: AUDIENCE,
      },
      tokens,
      newcomers: async (n) => (await tokens(n)).map((token) => ({ authorization: `Bearer ${token}` })),
      slow: async (ms) => void (await ask({ do: 'slow', ms })),
      async counted(counting) {
        await count();
        await counting();
        return count();
      },
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Servers that differ in their credential alone, on one upstream that refuses who shows another. */
function settingsOf({ caFile, entra, tokenEndpoint, sample }: IdpPlaces, port: number): object {
  const at = (bearer: string) => ({
    type: 'streamable-http',
    url: `http://127.0.0.1:${port}/legacy/guarded/${bearer}`,
  });
  const asEntra = { obo: { scopes: SCOPE } };
  return {
    identityProviders: {
      login: { type: 'entra', authority: entra.authority, caFile },
      plain: {
        ...{ type: 'jwt-bearer', tokenEndpoint, caFile },
        parameters: { requested_token_use: 'on_behalf_of' },
      },
    },
    mcpServers: {
      static: {
        ...at('bench-key'),
        apiKey: { source: 'admin', authorization_type: 'bearer', key: STATIC_KEY },
      },
      // The same key, and yet a connection of each user's own: the header names them.
      own: {
        ...at('bench-key'),
        headers: { authorization: `Bearer ${STATIC_KEY}-{{LIBRECHAT_USER_ID}}` },
      },
      // How every JWT begins.
      entra: { ...at('ey'), ...asEntra },
      'jwt-bearer': {
        ...at('ey'),
        obo: { provider: 'plain', scopes: RESOURCE.scopes.join(' '), audience: RESOURCE.id },
      },
      sample: { type: 'streamable-http', url: sample, caFile, ...asEntra },
    },
    mcpSettings: { operatorAddresses: [`127.0.0.1:${port}`, new URL(sample).host] },
  };
}
