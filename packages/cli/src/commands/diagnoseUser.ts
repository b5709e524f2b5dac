import { AdminUsersView, DiagnosisView } from '@behalf/contracts';
import { CliError } from '../cliError.ts';
import type { Context, Outcome } from '../command.ts';
import { clean } from '../output/clean.ts';
import { checklist, endingOfDiagnosis } from './doctor.ts';

/** Why calls of somebody else do or do not work. The gateway presents nothing of theirs for it, and writes down who asked. */
export async function diagnoseUser(context: Context, server: string, user: string): Promise<Outcome> {
  const { gateway, style, progress } = context;
  const userId = user.includes('@') ? await idOf(context, user) : user;
  progress(`Looking at ${server} for ${user} ...`);
  const view = await gateway().ask('/api/admin/credentials/diagnose', DiagnosisView, {
    ...{ method: 'POST', body: { serverName: server, userId } },
  });
  const verdict = view.ok
    ? style.good(clean(`Nothing is in the way of ${user}, as far as it can be seen without acting for them.`))
    : style.bad(clean(`Calls of ${user} to ${server} do not work, or not for long.`));
  return {
    ending: endingOfDiagnosis(view),
    text: `${clean(`What ${user} would be told:`)}\n\n${checklist(view, style, true, verdict)}`,
    json: { as: userId, ...view },
  };
}

async function idOf({ gateway }: Context, email: string): Promise<string> {
  const path = `/api/admin/users?search=${encodeURIComponent(email)}`;
  const { users } = await gateway().ask(path, AdminUsersView);
  const found = users.filter((user) => user.email.toLowerCase() === email.toLowerCase());
  const [only] = found;
  // One address at two providers is two accounts; which one is meant is not guessed.
  if (!only || found.length > 1) {
    throw new CliError('absent', 'There is no one account with this address in your tenant.', {
      code: 'USER_NOT_FOUND',
      action: 'Name it by its id: Administration, Users.',
    });
  }
  return only.id;
}
