import type { Answer, Json } from '../upstream/upstream.ts';

/** What begins like this is said by us: that a sign-in is needed and where, which number an error had. */
const OURS = 'behalf/';

/**
 * What a server says, without what only we may say. Clients act on our words in `_meta`: with a `behalf/auth` of its own
 * a server could send users to a page of its choice, in our name.
 */
export function withoutOurMeta(said: Json): Json {
  const { _meta } = said;
  if (typeof _meta !== 'object' || _meta === null) return said;
  const theirs = withoutOurs(_meta as Json);
  return theirs === _meta ? said : { ...said, _meta: theirs };
}

/** The members that are a server's own: the object itself where all of them are. */
export function withoutOurs(members: Json): Json {
  const entries = Object.entries(members);
  const theirs = entries.filter(([key]) => !key.startsWith(OURS));
  return theirs.length === entries.length ? members : Object.fromEntries(theirs);
}

/**
 * The same for an answer, whose text is passed on as it came unless there was something to take out. A text that names a
 * member twice is passed on with both: JSON readers take the last, as we do. So whatever is decided here or later must
 * never be about content that a reader of another kind could see otherwise.
 */
export function answerWithoutOurMeta(answer: Answer): Answer {
  const result = withoutOurMeta(answer.result);
  return result === answer.result ? answer : { result, json: undefined };
}
