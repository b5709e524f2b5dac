import { serversQuery } from '../../api/servers.ts';
import { modelsQuery } from '../../api/chat.ts';
import { userQuery } from '../../api/user.ts';
import { queryClient } from '../../app/queryClient.ts';
import type { Choice } from '../session/session.ts';
import { chooseModel, readModelChoice } from './chooseModel.ts';
import { readLeftOut, serversToSend } from './chosenServers.ts';
import { rememberedByUser } from './remembered.ts';

export const rememberedModel = rememberedByUser('model', readModelChoice);
export const leftOutServers = rememberedByUser('servers', readLeftOut);

/** With what the next message is sent. Who has left servers out waits until it is known which others there are. */
export async function currentChoice(): Promise<Choice> {
  const [models, user] = await Promise.all([
    queryClient.query(modelsQuery),
    queryClient.query({ ...userQuery, staleTime: Infinity }),
  ]);
  const leftOut = leftOutServers(user.id).get();
  const chosen = chooseModel(models, rememberedModel(user.id).get());
  if (leftOut.length === 0) return { ...chosen };
  const names = Object.keys(await queryClient.query(serversQuery));
  const servers = serversToSend(names, leftOut);
  return { ...chosen, ...(servers && { servers }) };
}
