import { createHash } from 'node:crypto';
import type { Env, EnvRecord } from '@behalf/contracts';
import { openStdioUpstream, type SharedServer } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import {
  placeholdersOf,
  renderTemplate,
  type ServerSettings,
  type Settings,
  type StdioSettings,
  type Template,
} from '@behalf/settings';
import type { Logger } from './logger.ts';
import { version } from './version.ts';

export interface SharedServerParts {
  env: Env;
  record: EnvRecord;
  clock: Clock;
  logger: Logger;
  /** The sample server gets nothing of our environment. */
  isBuiltIn: boolean;
}

/** What a child gets of our environment unless its definition says otherwise: enough to find and run programs. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];

/**
 * The servers that every user may share. One that asks for something not enforced yet is not offered at all: a
 * restriction that is written down and ignored would be worse than a server that is missing.
 */
export function sharedServers(settings: Settings, parts: SharedServerParts): SharedServer[] {
  const offered: SharedServer[] = [];
  for (const server of settings.servers) {
    const reason = whyNotOffered(server, settings);
    if (reason !== null) parts.logger.warn('A server is not offered', { server: server.name, reason });
    else if (server.type === 'stdio') offered.push(sharedServer(server, parts));
  }
  return offered;
}

function whyNotOffered(server: ServerSettings, { endpoints }: Settings): string | null {
  const { deny = [], ask = [], mode, enabled } = endpoints.toolApproval ?? {};
  if (server.type !== 'stdio') return `${server.type} is not supported yet`;
  if (!server.startup) return 'startup is false, and connecting on demand is not supported yet';
  if (placeholdersOf(server).length > 0) return 'it uses values of the user, which is not supported yet';
  if (Object.keys(server.customUserVars ?? {}).length > 0) return 'customUserVars are not supported yet';
  if (server.access !== undefined) return 'access is not enforced yet';
  if (server.tools !== undefined) return 'tools is not enforced yet';
  if (server.auth !== undefined && server.auth !== 'none') return 'auth is not supported yet';
  if (server.apiKey ?? server.oauth ?? server.requiresOAuth) return 'its credentials are not supported yet';
  if (deny.length + ask.length > 0 || mode !== undefined || enabled !== undefined) {
    return 'endpoints.agents.toolApproval is not enforced yet';
  }
  return null;
}

function sharedServer(
  server: StdioSettings,
  { env, record, clock, logger, isBuiltIn }: SharedServerParts,
): SharedServer {
  const inherited = isBuiltIn ? [] : INHERITED.map((name) => [name, record[name]] as const);
  const command = {
    command: server.command,
    args: server.args.map(text),
    env: Object.fromEntries([
      ...inherited.filter((entry): entry is [string, string] => entry[1] !== undefined),
      ...Object.entries(server.env).map(([name, value]) => [name, text(value)] as const),
    ]),
    cwd: server.cwd,
    stderr: server.stderr,
  };
  const limits = {
    initTimeoutMs: server.initTimeout,
    timeoutMs: server.timeout,
    maxPages: env.MCP_TOOLS_LIST_MAX_PAGES,
    maxTools: env.MCP_TOOLS_LIST_MAX_TOOLS,
  };
  return {
    name: server.name,
    revision: createHash('sha256')
      .update(JSON.stringify([command, limits]))
      .digest('base64url'),
    open: (signal) =>
      openStdioUpstream(
        command,
        {
          clock,
          limits,
          version,
          onStderr: (line) => logger.debug(line, { server: server.name }),
          kill: (pid, name) => void process.kill(pid, name),
        },
        signal,
      ),
  };
}

function text(template: Template): string {
  const rendered = renderTemplate(template, {});
  if (!rendered.ok) throw new Error('A shared server has no placeholders');
  return rendered.text;
}
