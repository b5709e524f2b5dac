import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from '@behalf/contracts';
import { systemDial } from '@behalf/egress';
import { systemClock, systemRandom, type Clock, type Dial } from '@behalf/kernel';
import { compose } from '../../api/src/compose/gateway.ts';
import type { Route } from '../../api/src/http/route.ts';
import type { Logger } from '../../api/src/runtime/logger.ts';
import { openHttpServer } from '../../api/src/http/server.ts';
import { type WebFiles, readWeb } from '../../api/src/http/staticFiles.ts';

/** The interface as this run built it before its first test. */
const webBuildFolder = fileURLToPath(new URL('../../packages/web/dist', import.meta.url));

export interface InProcessGateway {
  readonly url: string;
  readonly setupLink: string;
  readonly routes: readonly Route[];
  readonly logged: { event: string; fields: object }[];
  readonly dataDir: string;
  /** Writes another configuration and lets the gateway read it. */
  reload(yaml: string): Promise<void>;
  close(): Promise<void>;
}

/** The whole gateway without a process: for questions that are about HTTP alone. */
export async function startInProcess(
  variables: Record<string, string> = {},
  yaml?: string,
  clock: Clock = systemClock,
  web: WebFiles | null = readWeb(webBuildFolder),
  dial: Dial = systemDial,
): Promise<InProcessGateway> {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-http-'));
  const dataDir = join(dir, 'data');
  const file = join(dir, 'librechat.yaml');
  if (yaml !== undefined) await writeFile(file, yaml);
  const environment = {
    PORT: '0',
    BEHALF_DATA_DIR: dataDir,
    ...(yaml !== undefined && { CONFIG_PATH: file }),
    ...variables,
  };
  const result = parseEnv(environment);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const logged: InProcessGateway['logged'] = [];
  const log = (event: string, fields: object = {}) => void logged.push({ event, fields });
  const logger: Logger = { error: log, warn: log, info: log, debug: log };
  const gateway = await compose({
    env: result.env,
    record: environment,
    ignored: [],
    logger,
    clock,
    random: systemRandom,
    dial,
    web,
    addSecrets: () => undefined,
    onEvicted: () => {
      throw new Error('The store went into maintenance');
    },
  });
  const httpServer = await openHttpServer(gateway.listener, {
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
  });
  gateway.onListening(httpServer.port);
  return {
    url: `http://127.0.0.1:${httpServer.port}`,
    routes: gateway.routes,
    setupLink: (await gateway.createSetupLink()) ?? '',
    logged,
    dataDir,
    async reload(nextYaml) {
      await writeFile(file, nextYaml);
      gateway.reload();
    },
    async close() {
      await httpServer.stop(1_000);
      await gateway.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
