export interface ScrollPosition {
  readonly top: number;
  /** All there is, and what of it is seen at once. */
  readonly height: number;
  readonly viewport: number;
}

/** So near to the end that it counts as there: browsers scroll by fractions of pixels. */
const NEAR_END_PX = 8;

/**
 * Whether the reader follows the end, after the page was scrolled: who scrolled up, by however little, wants to read
 * there; who came back down follows again.
 */
export function shouldFollowEnd(
  isFollowing: boolean,
  previousTop: number,
  position: ScrollPosition,
): boolean {
  const distanceToEnd = position.height - position.viewport - position.top;
  if (distanceToEnd <= NEAR_END_PX) return true;
  return isFollowing && position.top >= previousTop;
}
