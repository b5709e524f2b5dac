import { createDevIdp } from './createDevIdp.ts';
import { DEMO_AUDIENCE, demoClient, createDemoLoginClient, demoUsers } from './demo/demoData.ts';

const GATEWAY_PORT = 3080;

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});

async function main(): Promise<number> {
  const port = Number(process.env.PORT ?? 9090);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('PORT must be a port number.');
  const idp = await createDevIdp({
    isProduction: process.env.NODE_ENV === 'production',
    port,
    users: demoUsers,
    audience: DEMO_AUDIENCE,
    clients: [createDemoLoginClient(GATEWAY_PORT)],
    onError: (error) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`),
  });
  print(`OPENID_ISSUER=${idp.issuer}`);
  print(`OPENID_CLIENT_ID=${demoClient.id}`);
  print(`OPENID_CLIENT_SECRET=${demoClient.secret}`);
  print(`OPENID_AUDIENCE=${DEMO_AUDIENCE}`);
  for (const { name, email, roles = [] } of demoUsers) print(`# ${name} <${email}> ${roles.join(' ')}`);
  print(`# kill -USR2 ${process.pid} rotates the signing key`);

  process.on('SIGUSR2', () => {
    void idp.rotateKeys({ keepOld: true }).then(({ kid }) => print(`# Signing with ${kid}`));
  });
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve());
  });
  await idp.close();
  return 0;
}

function print(line: string): void {
  process.stdout.write(`${line.trimEnd()}\n`);
}
