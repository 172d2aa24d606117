/** The answer to a step that is asked for: knows whether anybody ever looked at it. */
export class StepPromise<Result> extends Promise<Result> {
  /** Awaited, raced, or given a handler. */
  isLookedAt = false;

  /** Only the answer itself is watched, not what is made of it. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  static of<Result>(answer: Promise<Result>): StepPromise<Result> {
    const promise = new StepPromise<Result>((resolve, reject) => answer.then(resolve, reject));
    // A step that nobody awaits may fail without taking the process down, as in the engine itself.
    Promise.prototype.then.call(promise, undefined, () => {});
    return promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: `await` of a subclass comes through here, which is what is wanted
  override then<Value = Result, Caught = never>(
    onValue?: ((value: Result) => Value | PromiseLike<Value>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    this.isLookedAt = true;
    return super.then(onValue, onError);
  }
}
