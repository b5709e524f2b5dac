import { createDevIdp } from './createDevIdp.ts';
import type { DevUser } from './users.ts';

/** The demo's people: each kind of account that the gateway treats differently. */
const users: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'], groups: ['staff'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'], groups: ['staff'] },
  { id: 'gil', email: 'gil@example.test', name: 'Gil Guest' },
];

/** No secrets: everybody who runs this knows them, and it answers this machine only. */
const client = { id: 'behalf', secret: 'behalf-development-only' };
const gateway = ['http://localhost:3080', 'http://127.0.0.1:3080'];
const audience = 'api://behalf';

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});

async function main(): Promise<number> {
  const port = Number(process.env.PORT ?? 9090);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('PORT must be a port number.');
  const idp = await createDevIdp({
    production: process.env.NODE_ENV === 'production',
    port,
    users,
    audience,
    clients: [
      {
        ...client,
        redirectUris: gateway.map((origin) => `${origin}/oauth/openid/callback`),
        postLogoutRedirectUris: gateway.map((origin) => `${origin}/`),
      },
    ],
    onError: (error) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`),
  });
  print(`OPENID_ISSUER=${idp.issuer}`);
  print(`OPENID_CLIENT_ID=${client.id}`);
  print(`OPENID_CLIENT_SECRET=${client.secret}`);
  print(`OPENID_AUDIENCE=${audience}`);
  for (const { name, email, roles = [] } of users) print(`# ${name} <${email}> ${roles.join(' ')}`);
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
