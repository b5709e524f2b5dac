import { once } from 'node:events';
import { renderDemoInstructions, startDemo } from './startDemo.ts';

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});

async function main(): Promise<number> {
  // Registered first, so that an interrupted start leaves no process behind.
  const stopController = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopController.abort());
  const { env } = process;
  const ports = {
    gateway: parsePort('PORT', env.PORT),
    idp: parsePort('DEMO_IDP_PORT', env.DEMO_IDP_PORT),
    mail: parsePort('DEMO_MAIL_PORT', env.DEMO_MAIL_PORT),
    notes: parsePort('DEMO_NOTES_PORT', env.DEMO_NOTES_PORT),
    model: parsePort('DEMO_MODEL_PORT', env.DEMO_MODEL_PORT),
  };
  process.stdout.write('Starting a provider, two servers, a model and the gateway ...\n');
  const demo = await startDemo({
    isProduction: env.NODE_ENV === 'production',
    ...{ ports, signal: stopController.signal },
    onError: (error) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`),
  });
  try {
    process.stdout.write(await renderDemoInstructions(demo));
    const stopped = stopController.signal.aborted
      ? null
      : once(stopController.signal, 'abort').then(() => null);
    const ended = await Promise.race([stopped, demo.gateway.exited.then((code) => ({ code }))]);
    if (!ended) return 0;
    process.stderr.write(`The gateway exited with ${ended.code}:\n${demo.gateway.output()}`);
    return 1;
  } finally {
    await demo.close();
  }
}

function parsePort(name: string, text: string | undefined): number {
  const port = Number(text ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`${name} must be a port number.`);
  return port;
}
