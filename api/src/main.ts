import { fileURLToPath } from 'node:url';
import { parseEnv, secretVariableNames, type EnvRecord } from '@behalf/contracts';
import { systemDial } from '@behalf/egress';
import { createRedactor, systemClock, systemRandom, type Redactor } from '@behalf/kernel';
import { formatDiagnostics } from '@behalf/settings';
import { compose } from './compose/gateway.ts';
import { readRecord } from './env.ts';
import { createLogger } from './runtime/logger.ts';
import { openHttpServer, type RunningHttpServer } from './http/server.ts';
import { EXIT_CONFIG, EXIT_TRY_LATER, StartError } from './runtime/lifecycle.ts';
import { version } from './runtime/version.ts';
import { readWeb } from './http/staticFiles.ts';

/** The process exits within 10 s after SIGTERM: 5 s for requests in flight, the rest to close components. */
const SHUTDOWN_GRACE_MS = 5_000;
const FORCED_EXIT_MS = 9_700;
/** Additional time if a token refresh is in flight: its response may contain the only valid refresh token of a grant. */
const REFRESH_GRACE_MS = 10_000;

async function main(record: EnvRecord, { redactor, addSecrets }: SecretRedaction): Promise<void> {
  const result = parseEnv(record);
  if (!result.ok) throw new StartError(formatDiagnostics(result.diagnostics, 'environment'), EXIT_CONFIG);
  const { env, ignored } = result;
  const logger = createLogger({ level: env.LOG_LEVEL, pretty: process.stdout.isTTY, redactor });

  let server: RunningHttpServer | null = null;
  let isStopping = false;
  const stop = async (reason: string, exitCode: number, graceMs = SHUTDOWN_GRACE_MS) => {
    if (isStopping) return;
    isStopping = true;
    process.exitCode = exitCode;
    // Scheduled first, so that the process ends even if the shutdown hangs.
    const exit = () => process.exit(exitCode);
    const exitUnlessRefreshing = () =>
      gateway.isRefreshing() ? void systemClock.timer(REFRESH_GRACE_MS, exit, { keepAlive: true }) : exit();
    systemClock.timer(FORCED_EXIT_MS, exitUnlessRefreshing, { keepAlive: true });
    logger.info(`Shutting down: ${reason}`);
    try {
      gateway.drain();
      await server?.stop(graceMs);
      await gateway.close();
      logger.info('Stopped');
    } catch (error) {
      logger.error('Shutdown failed', { error });
    }
    // Leaves time to write the last log line. Nothing else is awaited.
    systemClock.timer(100, () => process.exit(exitCode), { keepAlive: true });
  };

  const gateway = await compose({
    env,
    record,
    ignored,
    logger,
    clock: systemClock,
    random: systemRandom,
    dial: systemDial,
    web: readWeb(fileURLToPath(new URL('../../packages/web/dist', import.meta.url))),
    addSecrets,
    onEvicted: () => void stop('the store is in maintenance', EXIT_TRY_LATER, 0),
  });
  try {
    server = await openHttpServer(gateway.listener, { host: env.HOST, port: env.PORT, clock: systemClock });
    const base = gateway.onListening(server.port);
    process.on('SIGTERM', () => void stop('SIGTERM', 0));
    process.on('SIGINT', () => void stop('SIGINT', 0));
    process.on('SIGHUP', () => gateway.reload());

    const link = await gateway.createSetupLink();
    // Not logged: the link contains a secret.
    if (link !== null)
      process.stdout.write(`\nCreate the first administrator within 15 minutes:\n  ${link}\n\n`);
    logger.info(`Behalf ${version} is listening on ${base}`, { host: env.HOST, port: server.port });
  } catch (error) {
    await server?.stop(0);
    await gateway.close();
    throw toListenError(error, env.HOST, env.PORT) ?? error;
  }
}

function toListenError(error: unknown, host: string, port: number): StartError | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new StartError(`Port ${port} on ${host} is already in use. Set PORT to another port.`, 1);
  if (code === 'EACCES')
    return new StartError(
      `Port ${port} requires privileges this process does not have. Set PORT to a value above 1023.`,
      1,
    );
  if (code === 'EADDRNOTAVAIL')
    return new StartError(`${host} is not an address of this machine. Correct HOST.`, EXIT_CONFIG);
  return null;
}

interface SecretRedaction {
  redactor: () => Redactor;
  addSecrets: (values: readonly string[]) => void;
}

/**
 * The values that log lines and the final error message must not contain: secret variables, and those that the YAML
 * references.
 */
function createSecrets(record: EnvRecord): SecretRedaction {
  // Each key of a comma-separated list is a secret as well.
  const secretValues = [...secretVariableNames]
    .flatMap((name) => record[name] ?? [])
    .flatMap((text) => [text, ...text.split(',')]);
  let current = createRedactor(secretValues);
  return {
    redactor: () => current,
    addSecrets: (values) => {
      current = createRedactor([...secretValues, ...values]);
    },
  };
}

const record = readRecord();
const secrets = createSecrets(record);
main(record, secrets).catch((error: unknown) => {
  const message = error instanceof StartError ? error.message : String((error as Error).stack ?? error);
  process.stderr.write(`${secrets.redactor().text(message)}\n`);
  process.exit(error instanceof StartError ? error.exitCode : 1);
});
