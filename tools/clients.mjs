// `npm run clients`: tests the gateway with common MCP clients: the Inspector in both eras and mcp-remote, each
// with an API key and with OAuth at the development identity provider.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('../test/clients', import.meta.url));
try {
  if (!existsSync(`${home}/node_modules/mcp-remote/package.json`)) {
    const npmFlags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['ci', '--prefix', home, ...npmFlags], { stdio: 'inherit' });
  }
  const { runClients } = await import('../test/clients/run.ts');
  process.exitCode = (await runClients()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
