import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, type Processes, type Running } from './processes.ts';
import { seedUsers, type SeededVariable } from './seedUsers.ts';

/** A real gateway, built, in a process and a directory of its own, with users who are signed in. */
export interface BenchGateway extends Running {
  readonly port: number;
  /** What each user's browser sends. */
  readonly users: readonly Readonly<Record<string, string>>[];
  /** Of the first user. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface GatewayOptions {
  settings: object;
  environment: NodeJS.ProcessEnv;
  userIds?: readonly string[];
  variable?: SeededVariable;
  /** More of its environment. */
  variables?: Readonly<Record<string, string>>;
  /** A directory of the caller's, for gateways that share one store. */
  directory?: string;
}

export async function startGateway(processes: Processes, options: GatewayOptions): Promise<BenchGateway> {
  const { settings, environment, userIds = ['bench'], variable, variables = {} } = options;
  execFileSync(process.execPath, [join(root, 'tools/build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const dir = options.directory ?? mkdtempSync(join(tmpdir(), 'behalf-bench-'));
  const dataDir = join(dir, 'data');
  const cookies = userIds.length > 0 ? await seedUsers(dataDir, userIds, variable) : [];
  // JSON is YAML.
  writeFileSync(join(dir, 'librechat.yaml'), JSON.stringify(settings));
  const entry = await processes.command([process.execPath, join(root, 'api/dist/main.js')], {
    cwd: dir,
    env: {
      PATH: environment['PATH'],
      PORT: '0',
      BEHALF_DATA_DIR: dataDir,
      CONFIG_PATH: join(dir, 'librechat.yaml'),
      // One user stands for many here: the limit is asked each time and never reached.
      RATE_LIMIT_CALLS: '10000000',
      ...variables,
    },
    ready: (output) => /is listening on (http:\/\/\S+?)"/.exec(output)?.[1],
    onStopped() {
      if (options.directory === undefined) rmSync(dir, { recursive: true, force: true });
    },
  });
  const { origin, port } = new URL(entry.found);
  const users = cookies.map((cookie) => ({ cookie, origin }));
  return { pid: entry.pid, stop: entry.stop, port: Number(port), users, headers: users[0] ?? {} };
}

/** The path and the body of a tool call over REST. */
export function restCall(server: string, tool: string, args: object): { path: string; body: string } {
  return {
    path: `/api/mcp/servers/${server}/tools/${tool}/call`,
    body: JSON.stringify({ arguments: args }),
  };
}

/** Servers of this shape lie on loopback, which the operator must open. */
export function settingsFor(port: number, servers: Readonly<Record<string, object>>): object {
  return { mcpSettings: { operatorAddresses: [`127.0.0.1:${port}`] }, mcpServers: servers };
}
