import { ConnectionStatusesView, ReauthCampaignView } from '@behalf/contracts';
import { CliError, createUsageError } from '../cliError.ts';
import type { Command, Context, CommandOutput } from '../command.ts';
import { stripControls } from '../output/stripControls.ts';
import { signIn, loginOptions } from './login.ts';

export const mcpReauth: Command = {
  path: ['mcp', 'reauth'],
  summary: 'signs you in again where required, or requires all users to sign in again',
  arguments: [{ name: 'SERVER', description: 'One server. Otherwise use --all.', optional: true }],
  options: [
    { name: 'all', description: 'All servers that require your sign-in, one after the other.' },
    {
      name: 'everybody',
      description: 'For administrators: all users who are signed in at SERVER must sign in again.',
    },
    ...loginOptions,
  ],
  notes: [
    'With --all, a failed sign-in does not stop the others. --everybody needs a key with the scope admin; stored credentials',
    'are kept until the users sign in again.',
  ],
  async run(context) {
    const { input } = context;
    const server = input.optional('SERVER');
    const [isForAllServers, isForAllUsers] = [input.flag('all'), input.flag('everybody')];
    if (isForAllUsers) {
      if (server === undefined || isForAllServers)
        throw createUsageError('--everybody needs the name of one server.');
      return startCampaign(context, server);
    }
    if (isForAllServers === (server !== undefined)) throw createUsageError('Name a server, or use --all.');
    return server === undefined ? signInEverywhere(context) : signIn(context, server);
  },
};

async function startCampaign({ gateway }: Context, serverName: string): Promise<CommandOutput> {
  const { marked } = await gateway().request('/api/admin/credentials/reauth', ReauthCampaignView, {
    ...{ method: 'POST', body: { serverName } },
  });
  const subject = marked === 1 ? 'One sign-in has' : `${marked} sign-ins have`;
  return {
    exitStatus: 'ok',
    text: stripControls(`${subject} to be repeated at ${serverName}.\n`),
    json: { serverName, marked },
  };
}

async function signInEverywhere(context: Context): Promise<CommandOutput> {
  const { connectionStatus } = await context
    .gateway()
    .request('/api/mcp/connection/status', ConnectionStatusesView);
  const servers = Object.entries(connectionStatus)
    .filter(([, { authorizationState }]) => authorizationState === 'needs_authorization')
    .map(([name]) => name)
    .sort();
  const results: { server: string; result: CommandOutput }[] = [];
  for (const [index, server] of servers.entries()) {
    context.progress(`${index + 1} of ${servers.length}: ${server}`);
    results.push({ server, result: await trySignIn(context, server) });
  }
  const hasSucceeded = results.every(({ result }) => result.exitStatus === 'ok');
  return {
    exitStatus: hasSucceeded ? 'ok' : 'failed',
    text:
      results.length === 0
        ? 'No server requires your sign-in.\n'
        : results.map(({ result }) => result.text).join(''),
    json: { servers: results.map(({ result }) => result.json) },
  };
}

/** What is wrong at one server says nothing of the next; what is wrong with the caller does. */
async function trySignIn(context: Context, server: string): Promise<CommandOutput> {
  try {
    return await signIn(context, server);
  } catch (error) {
    const canContinue =
      error instanceof CliError && !['interrupted', 'unreachable', 'forbidden'].includes(error.exitStatus);
    if (!canContinue) throw error;
    const { message, detail, exitStatus } = error;
    return {
      exitStatus,
      text: stripControls(`You are not signed in at ${server}: ${message}\n`),
      json: { serverName: server, signedIn: false, error: detail.code ?? 'failed' },
    };
  }
}
