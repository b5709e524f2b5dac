import { AdminUsersView, DiagnosisView } from '@behalf/contracts';
import { CliError } from '../cliError.ts';
import type { Context, CommandOutput } from '../command.ts';
import { stripControls } from '../output/stripControls.ts';
import { formatChecklist, getDiagnosisExitStatus } from './doctor.ts';

/** Why calls of somebody else do or do not work. The gateway presents nothing of theirs for it, and writes down who asked. */
export async function diagnoseUser(context: Context, server: string, user: string): Promise<CommandOutput> {
  const { gateway, style, progress } = context;
  const userId = user.includes('@') ? await findUserId(context, user) : user;
  progress(`Diagnosing ${server} for ${user} ...`);
  const view = await gateway().request('/api/admin/credentials/diagnose', DiagnosisView, {
    ...{ method: 'POST', body: { serverName: server, userId } },
  });
  const conclusion = view.ok
    ? style.good(
        stripControls(
          `No problem was found for ${user}, as far as can be checked without acting as this user.`,
        ),
      )
    : style.bad(stripControls(`Calls of ${user} to ${server} do not work, or will stop working soon.`));
  return {
    exitStatus: getDiagnosisExitStatus(view),
    text: `${stripControls(`Diagnosis as ${user} would see it:`)}\n\n${formatChecklist(view, style, true, conclusion)}`,
    json: { as: userId, ...view },
  };
}

async function findUserId({ gateway }: Context, email: string): Promise<string> {
  const path = `/api/admin/users?search=${encodeURIComponent(email)}`;
  const { users } = await gateway().request(path, AdminUsersView);
  const matches = users.filter((user) => user.email.toLowerCase() === email.toLowerCase());
  const [match] = matches;
  // One address at two providers is two accounts; which one is meant is not guessed.
  if (!match || matches.length > 1) {
    throw new CliError('absent', 'There is not exactly one account with this email in your tenant.', {
      code: 'USER_NOT_FOUND',
      action: 'Use the user ID instead. The web interface shows it under Administration, Users.',
    });
  }
  return match.id;
}
