import { createRequire } from 'node:module';
import { systemClock } from '@behalf/kernel';
import { builtInSettings, renderTemplate, type Template } from '@behalf/settings';
import { openStdioUpstream, type StdioCommand, type Upstream } from '../src/index.ts';

const script = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

/** The reference server, started with exactly what the built-in configuration says. */
export function sampleCommand(): StdioCommand {
  const [server] = builtInSettings({ command: process.execPath, args: [script, 'stdio'] }).servers;
  if (server?.type !== 'stdio') throw new Error('The built-in configuration has one stdio server');
  return {
    command: server.command,
    args: server.args.map(text),
    env: Object.fromEntries(Object.entries(server.env).map(([name, value]) => [name, text(value)])),
    cwd: server.cwd,
  };
}

export function openSample(
  over: Partial<StdioCommand> = {},
  signal = new AbortController().signal,
): Promise<Upstream> {
  return openStdioUpstream(
    { ...sampleCommand(), ...over },
    {
      clock: systemClock,
      version: '0.0.0',
      limits: { initTimeoutMs: 30_000, timeoutMs: 60_000, maxPages: 50, maxTools: 1_000 },
      onStderr: () => undefined,
      kill: (pid, name) => void process.kill(pid, name),
    },
    signal,
  );
}

function text(template: Template): string {
  const rendered = renderTemplate(template, {});
  if (!rendered.ok) throw new Error('The built-in configuration names no user');
  return rendered.text;
}
