import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Processes, Service } from '../processes.ts';
import type { IdpJob, IdpAddresses } from './idp.ts';

export const BENCH_TENANT = 'contoso';
export const BENCH_AUDIENCE = 'api://behalf';
export const BENCH_CLIENT = { id: 'behalf', secret: 'secret-of-the-benchmark' };
export const BENCH_RESOURCE = { id: 'api://mail', audience: 'mail-api', scopes: ['Mail.Read'] };
export const BENCH_SCOPE = `${BENCH_RESOURCE.id}/.default`;
const STATIC_KEY = 'bench-key-0123456789-0123456789-0123456789';

/** Both exchange protocols, as server names. */
export const exchangeMethods = ['entra', 'jwt-bearer'] as const;

/** An identity provider in a separate process, and the matching gateway settings. */
export interface OboBenchRig extends IdpAddresses {
  /** Created for the run and removed afterwards. */
  readonly directory: string;
  readonly settings: object;
  readonly variables: Readonly<Record<string, string>>;
  /** Headers of the next unused users. */
  newUserHeaders(count: number): Promise<readonly Readonly<Record<'authorization', string>>[]>;
  tokens(count: number): Promise<readonly string[]>;
  setExchangeDelay(ms: number): Promise<void>;
  /** The number of token requests during `work`. */
  countTokenRequests(work: () => Promise<unknown>): Promise<number>;
}

export async function withOboBenchRig<T>(
  { processes, upstream, users }: { processes: Processes; upstream: Service; users: number },
  work: (rig: OboBenchRig) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'behalf-bench-obo-'));
  try {
    const idp = processes.startWorker('obo/idp.ts');
    const sendJob = <Result>(job: IdpJob) => idp.runJob<Result>(job);
    const addresses = await sendJob<IdpAddresses>({ do: 'start', directory, users });
    let nextUser = 0;
    const tokens: OboBenchRig['tokens'] = async (count) => {
      if (nextUser + count > users) throw new Error(`There are ${users} users and no more`);
      const userIds = Array.from({ length: count }, (_, i) => `u${nextUser + i}`);
      nextUser += count;
      return (await sendJob<{ tokens: string[] }>({ do: 'mint', users: userIds })).tokens;
    };
    const count = async () => (await sendJob<{ count: number }>({ do: 'count' })).count;
    return await work({
      ...addresses,
      directory,
      settings: createSettings(addresses, upstream.port),
      variables: {
        OPENID_ISSUER: addresses.entra.issuer,
        OPENID_CLIENT_ID: BENCH_CLIENT.id,
        OPENID_CLIENT_SECRET: BENCH_CLIENT.secret,
        OPENID_AUDIENCE: BENCH_AUDIENCE,
      },
      tokens,
      newUserHeaders: async (n) => (await tokens(n)).map((token) => ({ authorization: `Bearer ${token}` })),
      setExchangeDelay: async (ms) => void (await sendJob({ do: 'slow', ms })),
      async countTokenRequests(work) {
        await count();
        await work();
        return count();
      },
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Servers that differ only in their credential, on an upstream that rejects any other credential. */
function createSettings({ caFile, entra, tokenEndpoint, sample }: IdpAddresses, port: number): object {
  const serverAt = (bearer: string) => ({
    type: 'streamable-http',
    url: `http://127.0.0.1:${port}/legacy/guarded/${bearer}`,
  });
  const entraServer = { obo: { scopes: BENCH_SCOPE } };
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
        ...serverAt('bench-key'),
        apiKey: { source: 'admin', authorization_type: 'bearer', key: STATIC_KEY },
      },
      // A static key with one connection per user, because a header contains the user ID.
      own: {
        ...serverAt('bench-key'),
        headers: { authorization: `Bearer ${STATIC_KEY}-{{LIBRECHAT_USER_ID}}` },
      },
      // Every JWT starts with this.
      entra: { ...serverAt('ey'), ...entraServer },
      'jwt-bearer': {
        ...serverAt('ey'),
        obo: { provider: 'plain', scopes: BENCH_RESOURCE.scopes.join(' '), audience: BENCH_RESOURCE.id },
      },
      sample: { type: 'streamable-http', url: sample, caFile, ...entraServer },
    },
    mcpSettings: { operatorAddresses: [`127.0.0.1:${port}`, new URL(sample).host] },
  };
}
