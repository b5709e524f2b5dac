import { stem } from './stem.ts';

/**
 * What people say for the few verbs that nearly every tool is named with. Nothing else: of things, a description says what
 * they are called, and a longer list would be right about one server and wrong about the next.
 */
const synonymGroups: readonly (readonly string[])[] = [
  ['create', 'add', 'new', 'make', 'open', 'insert'],
  ['delete', 'remove', 'erase', 'drop'],
  ['update', 'change', 'edit', 'modify', 'set'],
  ['list', 'show', 'get', 'read', 'view', 'fetch', 'describe'],
  ['search', 'find', 'look', 'query', 'lookup'],
  ['send', 'post', 'write'],
  ['start', 'run', 'launch', 'trigger'],
  ['stop', 'end', 'cancel', 'terminate', 'kill'],
  ['restart', 'reboot'],
];

const synonymsByStem = new Map<string, readonly string[]>();
for (const group of synonymGroups) {
  const stems = group.map(stem);
  for (const stemmed of stems)
    synonymsByStem.set(
      stemmed,
      stems.filter((candidate) => candidate !== stemmed),
    );
}

export function synonymsOf(term: string): readonly string[] {
  return synonymsByStem.get(term) ?? [];
}
