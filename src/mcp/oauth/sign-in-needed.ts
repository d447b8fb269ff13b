/** Thrown where only a person can go on: by signing in. */
export class SignInNeeded extends Error {
  constructor() {
    super("it needs a sign-in");
  }
}
