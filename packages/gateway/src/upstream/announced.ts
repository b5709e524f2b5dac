import { isObject } from './http/readAnswer.ts';
import type { Json, ListKind } from './upstream.ts';

const kinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** The lists whose changes this server says it announces. */
export function announced(capabilities: Json): readonly ListKind[] {
  return kinds.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability['listChanged'] === true;
  });
}

/** How a modern server is asked for them. */
export function asFilter(lists: readonly ListKind[]): Json {
  return Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true]));
}

/** What it says it will tell, of those; undefined: it is another message. */
export function acknowledged(
  { method, params }: { readonly method?: unknown; readonly params?: unknown },
  lists: readonly ListKind[],
): readonly ListKind[] | undefined {
  if (method !== 'notifications/subscriptions/acknowledged') return undefined;
  const honoured = isObject(params) && isObject(params['notifications']) ? params['notifications'] : {};
  return lists.filter((kind) => honoured[`${kind}ListChanged`] === true);
}
