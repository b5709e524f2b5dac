import { isObject } from './http/readResponse.ts';
import type { JsonObject, ListKind } from './upstream.ts';

const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** The lists whose changes this server says it announces. */
export function getAnnouncedLists(capabilities: JsonObject): readonly ListKind[] {
  return listKinds.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability['listChanged'] === true;
  });
}

/** How a modern server is asked for them. */
export function toListenFilter(lists: readonly ListKind[]): JsonObject {
  return Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true]));
}

/** What it says it will tell, of those; undefined: it is another message. */
export function readAcknowledgedLists(
  { method, params }: { readonly method?: unknown; readonly params?: unknown },
  lists: readonly ListKind[],
): readonly ListKind[] | undefined {
  if (method !== 'notifications/subscriptions/acknowledged') return undefined;
  const accepted = isObject(params) && isObject(params['notifications']) ? params['notifications'] : {};
  return lists.filter((kind) => accepted[`${kind}ListChanged`] === true);
}
