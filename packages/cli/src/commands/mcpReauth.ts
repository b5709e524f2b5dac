import { ConnectionStatusesView, ReauthCampaignView } from '@behalf/contracts';
import { CliError, usageError } from '../cliError.ts';
import type { Command, Context, Outcome } from '../command.ts';
import { clean } from '../output/clean.ts';
import { login, loginOptions } from './login.ts';

export const mcpReauth: Command = {
  path: ['mcp', 'reauth'],
  summary: 'signs you in again where that is needed, or makes everybody do so',
  arguments: [{ name: 'SERVER', about: 'One server. Else say --all.', optional: true }],
  options: [
    { name: 'all', about: 'Every server that needs a sign-in of yours, one after the other.' },
    {
      name: 'everybody',
      about: 'For administrators: everybody who is signed in at SERVER has to sign in there again.',
    },
    ...loginOptions,
  ],
  notes: [
    'With --all one that fails does not keep the others from being tried. --everybody needs a key with the scope admin; what',
    'people have is kept until they sign in anew.',
  ],
  async run(context) {
    const { given } = context;
    const server = given.optional('SERVER');
    const [all, everybody] = [given.flag('all'), given.flag('everybody')];
    if (everybody) {
      if (server === undefined || all) throw usageError('--everybody is about one server: name it.');
      return campaign(context, server);
    }
    if (all === (server !== undefined)) throw usageError('Name a server, or say --all.');
    return server === undefined ? each(context) : login(context, server);
  },
};

async function campaign({ gateway }: Context, serverName: string): Promise<Outcome> {
  const { marked } = await gateway().ask('/api/admin/credentials/reauth', ReauthCampaignView, {
    ...{ method: 'POST', body: { serverName } },
  });
  const who = marked === 1 ? 'One sign-in has' : `${marked} sign-ins have`;
  return {
    ending: 'ok',
    text: clean(`${who} to be made anew at ${serverName}.\n`),
    json: { serverName, marked },
  };
}

async function each(context: Context): Promise<Outcome> {
  const { connectionStatus } = await context
    .gateway()
    .ask('/api/mcp/connection/status', ConnectionStatusesView);
  const needing = Object.entries(connectionStatus)
    .filter(([, { authorizationState }]) => authorizationState === 'needs_authorization')
    .map(([name]) => name)
    .sort();
  const done: { server: string; outcome: Outcome }[] = [];
  for (const [index, server] of needing.entries()) {
    context.progress(`${index + 1} of ${needing.length}: ${server}`);
    done.push({ server, outcome: await attempt(context, server) });
  }
  const isWell = done.every(({ outcome }) => outcome.ending === 'ok');
  return {
    ending: isWell ? 'ok' : 'failed',
    text:
      done.length === 0
        ? 'No server needs a sign-in of yours.\n'
        : done.map(({ outcome }) => outcome.text).join(''),
    json: { servers: done.map(({ outcome }) => outcome.json) },
  };
}

/** What is wrong at one server says nothing of the next; what is wrong with the caller does. */
async function attempt(context: Context, server: string): Promise<Outcome> {
  try {
    return await login(context, server);
  } catch (error) {
    const goesOn =
      error instanceof CliError && !['interrupted', 'unreachable', 'forbidden'].includes(error.ending);
    if (!goesOn) throw error;
    const { message, detail, ending } = error;
    return {
      ending,
      text: clean(`You are not signed in at ${server}: ${message}\n`),
      json: { serverName: server, signedIn: false, error: detail.code ?? 'failed' },
    };
  }
}
