<text id='a'>
<s>
Lions	N	lion
sleep	V	sleep
.	S	.
</s>
<s>
Cats	N	cat
do	V	do
<g/>
n't	R	not
<g/>
.	S	.
</s>
<s>
Dogs	N	dog
bark	V	bark
.	S	.
</s>
