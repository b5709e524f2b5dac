import { serversQuery } from '../../api/servers.ts';
import { modelsQuery } from '../../api/chat.ts';
import { userQuery } from '../../api/user.ts';
import { queryClient } from '../../app/queryClient.ts';
import type { AnswerOptions } from '../session/session.ts';
import { chooseModel, parseModelChoice } from './chooseModel.ts';
import { parseExcludedServers, selectRequestedServers } from './excludedServers.ts';
import { createUserStores } from './persistentStore.ts';

export const modelChoiceStore = createUserStores('model', parseModelChoice);
export const excludedServersStore = createUserStores('servers', parseExcludedServers);

/** With what the next message is sent. Who has left servers out waits until it is known which others there are. */
export async function currentAnswerOptions(): Promise<AnswerOptions> {
  const [models, user] = await Promise.all([
    queryClient.query(modelsQuery),
    queryClient.query({ ...userQuery, staleTime: Infinity }),
  ]);
  const excluded = excludedServersStore(user.id).get();
  const chosen = chooseModel(models, modelChoiceStore(user.id).get());
  if (excluded.length === 0) return { ...chosen };
  const names = Object.keys(await queryClient.query(serversQuery));
  const servers = selectRequestedServers(names, excluded);
  return { ...chosen, ...(servers && { servers }) };
}
