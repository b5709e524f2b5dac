import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from '@behalf/contracts';
import { principalOf, type UserPrincipal } from '@behalf/gateway';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/stores/memory';
import { createClosers } from '../../api/src/closers.ts';
import { composeAccess } from '../../api/src/composeAccess.ts';
import { composeServers, type Servers } from '../../api/src/composeServers.ts';
import { composeVault } from '../../api/src/composeVault.ts';
import { createConfiguration } from '../../api/src/configuration.ts';
import type { SwappableNetwork } from '../../api/src/network.ts';
import { createExchangeStats } from '../../api/src/ops/exchangeStats.ts';
import { createRefreshStats } from '../../api/src/ops/refreshStats.ts';

/** What the one server is called. */
export const SERVER = 'conformance';

/** Where the suite expects our client metadata document to stand. Nobody fetches it. */
const PUBLIC_URL = 'https://conformance-test.local';

export interface ConformanceGateway extends Pick<Servers, 'asking' | 'oauth'> {
  readonly user: UserPrincipal;
  close(): Promise<void>;
}

export interface GatewayParts {
  /** A folder of its own. */
  readonly dir: string;
  /** What stands below `mcpServers`. */
  readonly definition: object;
  readonly door: SwappableNetwork;
  readonly log: (event: string, fields?: object) => void;
}

/** The gateway as its process composes it, with one server, one user and a store that forgets. */
export async function openGateway({ dir, definition, door, log }: GatewayParts): Promise<ConformanceGateway> {
  const [clock, random] = [systemClock, systemRandom];
  const file = join(dir, 'librechat.yaml');
  await writeFile(file, JSON.stringify({ mcpServers: { [SERVER]: definition } }));
  const record = { CONFIG_PATH: file };
  const parsed = parseEnv(record);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  const logger = { error: log, warn: log, info: log, debug: log };
  const closers = createClosers((error) => log('not_closed', { error: String(error) }));
  const store = openMemoryStore({ clock, random });
  closers.add(() => store.close());
  const common = {
    ...{ env: parsed.env, record, clock, random, log, logger, closers, door },
    ...{ primary: store, coordination: store },
    configuration: createConfiguration({ env: parsed.env, record, logger }),
    keyring: createKeyring([random.bytes(32)], random),
    base: () => PUBLIC_URL,
  };
  const vault = composeVault({ ...common, refreshes: createRefreshStats() });
  const access = await composeAccess({ ...common, ...vault, identity: door.identity });
  const { asking, oauth } = await composeServers({
    ...common,
    ...{ access, vault },
    exchanges: createExchangeStats(),
    addresses: () => ({
      redirectUri: `${PUBLIC_URL}/api/mcp/${SERVER}/oauth/callback`,
      document: null,
      publicDocument: `${PUBLIC_URL}/client-metadata.json`,
    }),
  });
  const account = { email: 'ada@example.com', name: 'Ada', password: random.id(), role: 'USER' };
  const user = principalOf(await access.accounts.create(account), { via: 'session', session: random.id() });
  return { asking, oauth, user, close: () => closers.closeAll() };
}
