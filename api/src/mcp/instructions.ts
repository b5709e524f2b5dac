import { endpointServers, type Endpoint, type EndpointParts, type Principal } from '@behalf/gateway';

/** What a model should know of the servers behind an endpoint: undefined when there is nothing to say. */
export type Instructions = (caller: Principal, endpoint: Endpoint) => string | undefined;

const MOST_OF_ONE = 2_000;
const MOST_IN_ALL = 16_000;

/**
 * The operator's own words about each server, one after the other. Servers' own words are not passed on: what one of them says
 * would be read as said of all.
 */
export function createInstructions(parts: EndpointParts): Instructions {
  return (caller, endpoint) => {
    const texts = endpointServers(parts, caller, endpoint).flatMap(({ name, source, settings }) => {
      const { serverInstructions: said } = settings;
      // What a user wrote about a server of theirs is not for the models of others.
      if (source === 'user' || typeof said !== 'string' || said.trim() === '') return [];
      const text = said.slice(0, MOST_OF_ONE);
      return [endpoint.kind === 'one' ? text : `## ${name}\n${text}`];
    });
    const whole = texts.join('\n\n').slice(0, MOST_IN_ALL);
    return whole === '' ? undefined : whole;
  };
}
