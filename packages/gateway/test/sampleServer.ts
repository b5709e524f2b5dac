import { createRequire } from 'node:module';
import { builtInSettings, renderTemplate, type Template } from '@behalf/settings';
import type { OpenOptions, StdioTarget } from '../src/upstream/target.ts';
import type { Upstream } from '../src/upstream/upstream.ts';
import { createChannelRig } from './channelRig.ts';

const script = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

/** The reference server, started with exactly what the built-in configuration says. */
export function createSampleTarget(): StdioTarget {
  const [server] = builtInSettings({ command: process.execPath, args: [script, 'stdio'] }).servers;
  if (server?.type !== 'stdio') throw new Error('The built-in configuration has one stdio server');
  return {
    type: 'stdio',
    command: server.command,
    args: server.args.map(renderText),
    env: Object.fromEntries(Object.entries(server.env).map(([name, value]) => [name, renderText(value)])),
    cwd: server.cwd,
    stderr: 'pipe',
  };
}

export function openSampleServer(
  overrides: Partial<StdioTarget> = {},
  options: Partial<OpenOptions> = {},
): Promise<Upstream> {
  return createChannelRig().open({ ...createSampleTarget(), ...overrides }, options);
}

function renderText(template: Template): string {
  const rendered = renderTemplate(template, {});
  if (!rendered.ok) throw new Error('The built-in configuration names no user');
  return rendered.text;
}
