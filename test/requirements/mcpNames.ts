import type { Requirement } from '../requirements.ts';

/** What things are called at the MCP endpoint, what is said there, and which pages may use it. */
export const mcpNames = {
  'settings.endpoint.names': [
    'done',
    'Names that two could have, and servers that are not there, stop the load with their path and a way out.',
  ],
  'settings.endpoint.origins': ['done', 'An origin is written as browsers write it, or it stops the load.'],
  'mcp.names.priority': [
    'done',
    'Tools and prompts of the listed servers keep their own names, the first server before the others; what cannot has its key.',
  ],
  'mcp.names.kept': [
    'done',
    'A name that may be an earlier server’s is nobody else’s: while that one is away, hidden or not known whole.',
  ],
  'mcp.names.users': ['done', 'A server that a user made has its own key before its names, and takes none.'],
  'mcp.names.aliases': [
    'done',
    'A name that the operator chose stands for that tool or prompt and nothing else.',
  ],
  'mcp.instructions.own': [
    'done',
    'serverInstructions: true passes on what the server says of itself, a text that text, anything else nothing.',
  ],
  'mcp.instructions.quoted': [
    'done',
    'A server’s words are marked line by line as its own, without hidden characters and without what it was shown.',
  ],
  'mcp.instructions.bounded': ['done', 'What servers say of themselves is cut, each and all together.'],
  'mcp.instructions.users': ['done', 'What a server says to one user is told to no other.'],
  'mcp.instructions.known': ['done', 'Opening the endpoint asks no server for anything, and waits for none.'],
  'mcp.resources.kept': [
    'done',
    'An address that a server had when it was last listed is no other’s while that server is away.',
  ],
  'mcp.resources.standing': [
    'done',
    'A server that a user made neither takes nor spoils an address of the operator’s servers, whichever of them are away.',
  ],
  'mcp.resources.apps': [
    'done',
    'An address that a tool names as its app is its server’s own, whether that lists it or not, and whether it is there or not.',
  ],
  'mcp.resources.bare': [
    'done',
    'What a server of a user has is read under its key alone; without it only an app that one of its tools names.',
  ],
  'mcp.resources.wrapped': [
    'done',
    'With its server’s key before it every address is read, and one server that is away hides no other.',
  ],
  'mcp.origins.allowed': [
    'done',
    'A page of an origin that the operator names uses the MCP endpoints with a token, and can get one.',
  ],
  'mcp.origins.others': ['done', 'No page of any other origin may, whatever it looks like; by default none.'],
  'mcp.origins.closed': ['done', 'Nothing else of the gateway is open to the pages of such an origin.'],
  'mcp.origins.cookies': ['done', 'What such a page does never counts as done with its user’s cookie.'],
} as const satisfies Record<string, Requirement>;
