import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, type Processes, type RunningProcess } from './processes.ts';
import { seedUsers, type SeededVariable } from './seedUsers.ts';

/** A real built gateway in its own process and directory, with signed-in users. */
export interface BenchGateway extends RunningProcess {
  readonly port: number;
  /** The headers of each user's browser. */
  readonly users: readonly Readonly<Record<string, string>>[];
  /** The headers of the first user. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface GatewayOptions {
  settings: object;
  environment: NodeJS.ProcessEnv;
  userIds?: readonly string[];
  variable?: SeededVariable;
  /** Additional environment variables. */
  variables?: Readonly<Record<string, string>>;
  /** A directory for gateways that share a store. */
  directory?: string;
}

export async function startBenchGateway(
  processes: Processes,
  options: GatewayOptions,
): Promise<BenchGateway> {
  const { settings, environment, userIds = ['bench'], variable, variables = {} } = options;
  execFileSync(process.execPath, [join(repositoryRoot, 'tools/build.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'behalf-bench-'));
  const dataDir = join(directory, 'data');
  const cookies = userIds.length > 0 ? await seedUsers(dataDir, userIds, variable) : [];
  // JSON is valid YAML.
  writeFileSync(join(directory, 'librechat.yaml'), JSON.stringify(settings));
  const child = await processes.startCommand([process.execPath, join(repositoryRoot, 'api/dist/main.js')], {
    cwd: directory,
    env: {
      PATH: environment['PATH'],
      PORT: '0',
      BEHALF_DATA_DIR: dataDir,
      CONFIG_PATH: join(directory, 'librechat.yaml'),
      // One user makes the calls of many. The limit is checked for each call and never reached.
      RATE_LIMIT_CALLS: '10000000',
      ...variables,
    },
    parseReady: (output) => /is listening on (http:\/\/\S+?)"/.exec(output)?.[1],
    onStopped() {
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  });
  const { origin, port } = new URL(child.readyMatch);
  const users = cookies.map((cookie) => ({ cookie, origin }));
  return { pid: child.pid, stop: child.stop, port: Number(port), users, headers: users[0] ?? {} };
}

/** Path and body of a tool call over REST. */
export function createRestCall(server: string, tool: string, args: object): { path: string; body: string } {
  return {
    path: `/api/mcp/servers/${server}/tools/${tool}/call`,
    body: JSON.stringify({ arguments: args }),
  };
}

/** The settings of servers on loopback, which the operator must allow. */
export function createSettings(port: number, servers: Readonly<Record<string, object>>): object {
  return { mcpSettings: { operatorAddresses: [`127.0.0.1:${port}`] }, mcpServers: servers };
}
