import type { Requirement } from '../requirements.ts';

export const catalog = {
  'catalog.slow-server': ['done', 'A server that hangs neither hides nor delays the tools of the others.'],
  'catalog.states': [
    'done',
    'A server without tools says whether a sign-in, a setting or the server itself is missing.',
  ],
  'catalog.pages.followed': [
    'done',
    'A list is followed to its last page; an empty page or an empty cursor is not the end.',
  ],
  'catalog.pages.budgets': [
    'done',
    'A list ends as incomplete when a cursor comes again or pages, items, bytes or time run out.',
  ],
  'catalog.pages.full': ['done', 'A list that is exactly full asks for no further page.'],
  'catalog.pages.later-fails': [
    'done',
    'When a later page fails, the earlier ones are returned as incomplete.',
  ],
  'catalog.pages.hanging': [
    'done',
    'A page that never comes costs no more than the time for the whole list.',
  ],
  'catalog.pages.no-capability': [
    'done',
    'What a server does not declare in its session is empty without asking.',
  ],
  'catalog.pages.claims-of-others': [
    'done',
    'A server without sessions is asked for every list: what it declared it may have declared to another user.',
  ],
  'catalog.pages.leaves-nothing': ['done', 'A listing leaves no listener behind.'],
  'catalog.pages.hints': [
    'done',
    'What a server says about caching holds only as far as every page says it.',
  ],
  'catalog.names.form': [
    'done',
    'A tool is `<tool>_mcp_<server>` towards models, with a stable hash where that does not fit 64 characters.',
  ],
  'catalog.names.unambiguous': ['done', 'No two tools that one user sees ever share a name.'],
  'catalog.names.routed': ['done', 'A name is looked up among what its caller sees, never taken apart.'],
  'catalog.tools.kept': ['done', 'What a server says of a tool is kept whole and frozen.'],
  'catalog.tools.hostile': ['done', 'A tool beyond reason is dropped by name and takes no other with it.'],
  'catalog.tools.dropped-told': [
    'done',
    'Dropped tools are told in twenty lines and a count, and their names write no lines of their own.',
  ],
  'catalog.mirror.invalid': [
    'done',
    'A tool of the modern era with an invalid header annotation is dropped, with the reason.',
  ],
  'catalog.mirror.headers': [
    'done',
    'Annotated arguments are repeated in headers, and no value can break out of its header.',
  ],
  'catalog.load.one-listing': ['done', 'Those who ask for one list together share one listing.'],
  'catalog.load.given-up': ['done', 'Who gives up a listing leaves it to those who wait for the same.'],
  'catalog.holders.isolated': ['done', 'What one user sees of a server is never shown to another.'],
  'catalog.incomplete.kept': ['done', 'An incomplete list never replaces a complete one; an empty one does.'],
  'catalog.order.newest-wins': ['done', 'An older answer that arrives last does not win.'],
  'catalog.order.previous-connection': ['done', 'An answer from before a reconnect is dropped.'],
  'catalog.order.previous-credential': [
    'done',
    'A list that was asked for with values which their user has replaced since is not kept.',
  ],
  'catalog.changed.not-lost': ['done', 'A change during a listing leads to another listing.'],
  'catalog.changed.coalesced': ['done', 'Change notices lead to at most one listing a second.'],
  'catalog.age.ttl': ['done', 'A list is asked for again after its time.'],
  'catalog.age.stale-on-error': [
    'done',
    'A known list is served while its server is away, never after a refusal.',
  ],
  'catalog.age.missing-tool': ['done', 'A tool that a list lacks is looked for again, within bounds.'],
  'catalog.revision.gone': ['done', 'No list outlives the definition of its server.'],
  'catalog.memory.shared': ['done', 'Equal lists of different users are held once.'],
  'catalog.memory.bounded': [
    'done',
    'Lists are bounded in number, and an idle user costs less than 300 bytes.',
  ],
  'catalog.memory.bytes': [
    'done',
    'Lists take a bounded part of the memory; the longest unused of the server with the most goes first.',
  ],
  'catalog.bare.kept': [
    'done',
    'A list that was shown without a credential stands in only where there is no other.',
  ],
  'catalog.closed': ['done', 'Closing ends every listing and every planned one.'],

  'arguments.named': ['done', 'Every missing or wrong field of a call is named by its path, at most twenty.'],
  'arguments.no-echo': ['done', 'No value that a caller sent is repeated in what is wrong with it.'],
  'arguments.unchanged': ['done', 'Arguments pass unchanged: nothing is converted or filled in.'],
  'arguments.null': [
    'done',
    'Null for an argument that may be left out is not refused here; the server judges it.',
  ],
  'arguments.size': ['done', 'Arguments above 256 KiB or 32 levels are refused.'],
  'arguments.drafts': ['done', 'Schemas of draft-04 to 2020-12 are read as they were meant.'],
  'arguments.inherited': ['done', 'Names that every object inherits are fields like any other.'],
  'arguments.semantics': ['done', 'Making a schema safe does not change what it accepts.'],
  'arguments.hostile-pattern': ['done', 'A pattern takes time linear in the text, whatever it says.'],
  'arguments.remote-ref': [
    'done',
    'A reference never leaves its schema, neither to the network nor to another schema.',
  ],
  'arguments.bounded': ['done', 'A check that would cost too much is given up.'],
  'arguments.uncheckable': [
    'done',
    'A schema that cannot be checked is not checked, is logged once for each tool, and leaves the tool usable.',
  ],
  'arguments.cache': [
    'done',
    'Schemas are compiled once and bounded in number; one server takes nothing from another.',
  ],
  'arguments.compiler-time': [
    'done',
    'The schemas of one server take no more than a second of a minute; the rest is not checked meanwhile.',
  ],

  'catalog.listings.bytes': [
    'done',
    'Lists of resources and prompts take a bounded room, in all and of one server; what goes is of the server that has the most.',
  ],
  'catalog.listings.last': [
    'done',
    'Of a list that is too old to be shown only names and addresses are kept, before any other list has to go.',
  ],
  'catalog.listings.overtaken': [
    'done',
    'What a server says has changed for one user makes no listing of others, nor of other servers, uncached.',
  ],

  'shaping.raw': ['done', 'A raw result is what the server sent.'],
  'shaping.openai': ['done', 'A result for Chat Completions holds its text and names what it cannot hold.'],
  'shaping.anthropic': ['done', 'A result for the Messages API holds its text and the images it may hold.'],
  'shaping.errors': ['done', 'A failed tool is told as failed in every form, with its content.'],
  'shaping.structured': ['done', 'Structured content reaches the model once.'],
  'shaping.no-base64': ['done', 'No payload becomes text of a prompt, and none is dropped.'],
  'shaping.our-meta': [
    'done',
    'No server can say in `_meta` what only Behalf says, in results and in lists.',
  ],
  'shaping.hostile': ['done', 'Malformed and unknown content survives as an attachment.'],

  'catalog.listings.one-flight': [
    'done',
    'Prompts and resources are asked for once by all who want them at once; nobody gets what began before a change they were told of.',
  ],
  'registry.stored.values-stay-put': [
    'done',
    'Values that users entered are removed when a changed definition would send them elsewhere.',
  ],
} as const satisfies Record<string, Requirement>;
